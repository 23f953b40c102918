import { useEffect, type ReactNode } from 'react'

/** A page: its heading, what can be done on it, its content. */
export function Page({
  title,
  lead,
  actions,
  children,
}: {
  readonly title: string
  readonly lead?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}) {
  useEffect(() => {
    document.title = `${title} · Millrace`
  }, [title])
  return (
    <div className="page">
      <header className="page-head">
        <div>
          <h1>{title}</h1>
          {lead !== undefined && <p className="soft">{lead}</p>}
        </div>
        {actions !== undefined && <div className="row">{actions}</div>}
      </header>
      {children}
    </div>
  )
}

/** A framed part of a page with a heading. */
export function Card({
  title,
  actions,
  children,
  isPadded = true,
}: {
  readonly title?: string
  readonly actions?: ReactNode
  readonly children: ReactNode
  readonly isPadded?: boolean
}) {
  return (
    <section
      className={title === undefined && isPadded ? 'card pad' : 'card'}
      {...(title === undefined ? {} : { 'aria-label': title })}
    >
      {title !== undefined && (
        <header>
          <h2>{title}</h2>
          {actions !== undefined && <div className="row">{actions}</div>}
        </header>
      )}
      {title !== undefined && isPadded ? <div className="card-body">{children}</div> : children}
    </section>
  )
}

/** A figure with its name. */
export function Stat({
  name,
  children,
  note,
  isKnown = true,
}: {
  readonly name: string
  readonly children: ReactNode
  readonly note?: ReactNode
  /** False until the service has answered: a dash stands there then, since a zero would be believed. */
  readonly isKnown?: boolean
}) {
  return (
    <div className="stat">
      <dt>{name}</dt>
      <dd>
        {isKnown ? children : '–'}
        {note !== undefined && <small>{isKnown ? note : 'not known yet'}</small>}
      </dd>
    </div>
  )
}

/** A word with a colour that says how things are. */
export function Badge({
  look = 'plain',
  children,
}: {
  readonly look?: 'plain' | 'good' | 'warn' | 'bad'
  readonly children: ReactNode
}) {
  return (
    <span className={`badge ${look}`}>
      {look !== 'plain' && <span className="dot" />}
      {children}
    </span>
  )
}
