import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Redo2, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { ProjectAddress } from '../api/project-address.ts'
import { request } from '../api/request.ts'
import { projectPath } from '../api/project-address.ts'
import { Button } from '../parts/button.tsx'
import { Code } from '../parts/code.tsx'
import { Confirm, Dialog } from '../parts/dialog.tsx'
import { Tick } from '../parts/field.tsx'
import { ago, counted, wholeNumber } from '../parts/format.ts'
import { ErrorNotice, Notice, Progress } from '../parts/notice.tsx'
import { Badge, Card } from '../parts/page.tsx'
import { deadLettersQuery, settleLetters, type LetterChoice } from './api.ts'

const SHOWN = 200
/** As many as are asked for at once. */
const MOST = 1000

/** The dead letters of a channel: look, send again, dismiss. */
export function LetterList({
  address,
  channel,
}: {
  readonly address: ProjectAddress
  readonly channel: string
}) {
  const client = useQueryClient()
  const { data: letters, error } = useQuery(deadLettersQuery(address, channel))
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [action, setAction] = useState<'redrive' | 'dismiss' | null>(null)
  const [done, setDone] = useState<string | null>(null)
  const [open, setOpen] = useState<string | null>(null)
  const choice: LetterChoice = chosen.size === 0 ? { channel } : { ids: [...chosen] }
  const what = chosen.size === 0 ? 'all dead letters of this channel' : counted(chosen.size, 'dead letter')
  const settle = async (verb: 'redrive' | 'dismiss') => {
    const { letters: count } = await settleLetters(address, verb, choice)
    const are = count === 1 ? 'is' : 'are'
    setDone(`${counted(count, 'dead letter')} ${are} ${verb === 'redrive' ? 'sent again' : 'dismissed'}.`)
    setChosen(new Set())
    await client.invalidateQueries({ queryKey: ['letters'] })
  }
  if (error) return <ErrorNotice error={error} />
  if (!letters) return <Progress label="Loading dead letters" />
  return (
    <div className="stack tight">
      {done !== null && <Notice look="good">{done}</Notice>}
      <Card isPadded={false}>
        {letters.length === 0 ? (
          <p className="card-body soft">
            No dead letter. A message that is never acknowledged comes here, and stays for seven days.
          </p>
        ) : (
          <>
            <div className="toolbar">
              <span className="grow soft">
                {letters.length === MOST
                  ? `${wholeNumber(MOST)} dead letters or more`
                  : counted(letters.length, 'dead letter')}
              </span>
              <Button onPress={() => setAction('redrive')}>
                <Redo2 aria-hidden /> {chosen.size === 0 ? 'Redrive all' : `Redrive ${chosen.size}`}
              </Button>
              <Button look="danger" onPress={() => setAction('dismiss')}>
                <Trash2 aria-hidden /> {chosen.size === 0 ? 'Dismiss all' : `Dismiss ${chosen.size}`}
              </Button>
            </div>
            <div className="table-box" role="region" aria-label="Dead letters" tabIndex={0}>
              <table className="table">
                <thead>
                  <tr>
                    <th scope="col">Letter</th>
                    <th scope="col">Died</th>
                    <th scope="col">Last error</th>
                    <th scope="col" className="number">
                      Attempts
                    </th>
                    <th scope="col" className="number">
                      Messages
                    </th>
                    <th scope="col">
                      <span className="unseen">Look</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {letters.slice(0, SHOWN).map((letter) => (
                    <tr key={letter.id}>
                      <td>
                        <Tick
                          isOn={chosen.has(letter.id)}
                          onChange={() =>
                            setChosen((before) => new Set(before).symmetricDifference(new Set([letter.id])))
                          }
                        >
                          <span className="mono">{letter.id}</span>
                        </Tick>
                      </td>
                      <td>{ago(letter.diedAt)}</td>
                      <td>
                        {letter.redriveRequestedAt === null ? (
                          letter.lastError
                        ) : (
                          <Badge look="warn">being sent again</Badge>
                        )}
                      </td>
                      <td className="number">{letter.attempts}</td>
                      <td className="number">{letter.messages}</td>
                      <td className="number">
                        <Button look="quiet" onPress={() => setOpen(letter.id)}>
                          Show
                        </Button>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </>
        )}
      </Card>
      <Confirm
        title={action === 'dismiss' ? `Dismiss ${what}?` : `Redrive ${what}?`}
        isOpen={action !== null}
        onClose={() => setAction(null)}
        action={action === 'dismiss' ? 'Dismiss' : 'Redrive'}
        onConfirm={() => settle(action ?? 'redrive')}
      >
        <p>
          {action === 'dismiss'
            ? 'Their messages are removed for good. This cannot be undone.'
            : 'Their messages are sent to the receiver again; those that a newer revision has replaced are left out.'}
        </p>
      </Confirm>
      <Dialog
        title={`Dead letter ${open ?? ''}`}
        isOpen={open !== null}
        onClose={() => setOpen(null)}
        place="side"
      >
        {open !== null && <LetterMessages address={address} channel={channel} id={open} />}
      </Dialog>
    </div>
  )
}

/** The messages of a letter. They come with a pull, which changes nothing but the order of later pulls. */
function LetterMessages({
  address,
  channel,
  id,
}: {
  readonly address: ProjectAddress
  readonly channel: string
  readonly id: string
}) {
  const { data, error } = useQuery({
    queryKey: ['letter', address, id],
    queryFn: async ({ signal }) => {
      const query = new URLSearchParams({ limit: '1', channel, after: String(Number(id) - 1) })
      const { messages } = await request<{ messages: readonly { id: string; data: string }[] }>(
        `/webhook/deadletter/${projectPath(address)}?${query}`,
        { signal },
      )
      return messages.find((each) => each.id === id)?.data ?? null
    },
  })
  if (error) return <ErrorNotice error={error} />
  if (data === undefined) return <Progress label="Loading the messages" />
  if (data === null)
    return <p className="soft">It is no longer there, or newer revisions have replaced its messages.</p>
  // As they were sent, byte for byte: parsing would round long integers.
  return <Code label="messages" text={data} />
}
