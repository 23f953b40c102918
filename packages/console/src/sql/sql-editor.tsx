import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { sql } from '@codemirror/lang-sql'
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { setDiagnostics } from '@codemirror/lint'
import { Compartment, EditorState } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
  placeholder,
} from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useImperativeHandle, useRef, type Ref } from 'react'
import type { TableInfo } from '../api/project.ts'
import { quoteName } from '../api/project.ts'
import { CLICKHOUSE } from './dialect.ts'

/** What the page asks of the editor. */
export interface SqlEditorHandle {
  insert(text: string): void
  replace(text: string): void
}

/** A place in the statement where the engine found a fault; 0 is the first character. */
export interface Fault {
  readonly at: number
  readonly message: string
}

/** The editor of statements. Ctrl-Enter runs. */
export function SqlEditor({
  ref,
  initial,
  tables,
  fault,
  onChange,
  onRun,
}: {
  readonly ref: Ref<SqlEditorHandle>
  readonly initial: string
  readonly tables: readonly TableInfo[]
  readonly fault: Fault | null
  readonly onChange: (text: string) => void
  readonly onRun: () => void
}) {
  const box = useRef<HTMLDivElement>(null)
  const editor = useRef<EditorView>(null)
  const language = useRef(new Compartment())
  const handlers = useRef({ onChange, onRun })
  handlers.current = { onChange, onRun }

  useEffect(() => {
    if (!box.current) return
    const run = () => {
      handlers.current.onRun()
      return true
    }
    const view = new EditorView({
      parent: box.current,
      state: EditorState.create({
        doc: initial,
        extensions: [
          EditorView.cspNonce.of(pageNonce()),
          keymap.of([
            { key: 'Mod-Enter', run },
            ...closeBracketsKeymap,
            ...completionKeymap,
            ...historyKeymap,
            ...defaultKeymap,
          ]),
          history(),
          lineNumbers(),
          drawSelection(),
          highlightActiveLine(),
          bracketMatching(),
          closeBrackets(),
          autocompletion(),
          placeholder('select … from …'),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': 'SQL statement' }),
          syntaxHighlighting(COLOURS),
          LOOK,
          language.current.of(sql({ dialect: CLICKHOUSE, schema: schemaOf(tables) })),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) handlers.current.onChange(update.state.doc.toString())
          }),
        ],
      }),
    })
    editor.current = view
    return () => view.destroy()
    // oxlint-disable-next-line react/exhaustive-deps -- made once; what changes later is handed on below
  }, [])

  useEffect(() => {
    editor.current?.dispatch({
      effects: language.current.reconfigure(sql({ dialect: CLICKHOUSE, schema: schemaOf(tables) })),
    })
  }, [tables])

  useEffect(() => {
    const view = editor.current
    if (!view) return
    const from = Math.min(fault?.at ?? 0, view.state.doc.length)
    const word = /^\w+/.exec(view.state.doc.sliceString(from, from + 64))?.[0] ?? ''
    const to = Math.min(from + Math.max(1, word.length), view.state.doc.length)
    view.dispatch(
      setDiagnostics(
        view.state,
        fault === null ? [] : [{ from, to, severity: 'error', message: fault.message }],
      ),
    )
  }, [fault])

  useImperativeHandle(ref, () => ({
    insert: (text) => {
      const view = editor.current
      view?.dispatch(view.state.replaceSelection(text))
      view?.focus()
    },
    replace: (text) => {
      const view = editor.current
      view?.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } })
      view?.focus()
    },
  }))

  return <div ref={box} className="editor" />
}

/** The nonce that this page's policy allows style sheets by. */
function pageNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''
}

function schemaOf(tables: readonly TableInfo[]) {
  return tables
    .map(({ name, kind, columns }) => ({
      self: { label: name, type: 'class', detail: kind, apply: /^\w+$/.test(name) ? name : quoteName(name) },
      children: columns.map((column) => ({
        label: column.name,
        type: 'property',
        detail: column.type,
        // Names such as from and to are words of the language too.
        apply: /^(from|to|order|group|limit|table|index)$/i.test(column.name)
          ? quoteName(column.name)
          : column.name,
      })),
    }))
    .reduce<Record<string, { self: object; children: object[] }>>((all, each) => {
      all[each.self.label] = each
      return all
    }, {}) as never
}

const COLOURS = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--syntax-keyword)', fontWeight: '600' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--syntax-string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--syntax-number)' },
  { tag: [tags.typeName, tags.standard(tags.name)], color: 'var(--syntax-type)' },
  { tag: tags.comment, color: 'var(--text-soft)', fontStyle: 'italic' },
])

const LOOK = EditorView.theme({
  '&': { backgroundColor: 'transparent', color: 'var(--text)', fontSize: '0.93rem' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', minHeight: '9rem', maxHeight: '45vh', lineHeight: '1.6' },
  '.cm-content': { padding: '0.7rem 0', caretColor: 'var(--accent)' },
  '.cm-gutters': { backgroundColor: 'transparent', border: '0', color: 'var(--text-soft)' },
  '.cm-activeLine, .cm-activeLineGutter': {
    backgroundColor: 'color-mix(in srgb, var(--hover) 45%, transparent)',
  },
  '.cm-cursor': { borderLeftColor: 'var(--accent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 28%, transparent)',
  },
  '.cm-placeholder': { color: 'var(--text-soft)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    color: 'var(--text)',
    border: '1px solid var(--line)',
    borderRadius: '8px',
    overflow: 'hidden',
    boxShadow: 'var(--shadow-high)',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--accent-soft)',
    color: 'var(--text)',
  },
  '.cm-completionDetail': { color: 'var(--text-soft)', fontStyle: 'normal', marginLeft: '1rem' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--bad) 1.5px',
    textUnderlineOffset: '3px',
  },
})
