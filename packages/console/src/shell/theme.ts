const PLACE = 'millrace-theme'

type Theme = 'light' | 'dark'

/** The theme that shows: the one chosen here, or else the system's. */
export function currentTheme(): Theme {
  const chosen = localStorage.getItem(PLACE)
  if (chosen === 'light' || chosen === 'dark') return chosen
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
}

/** Shows the theme, and follows the system from then on. */
export function applyTheme(): void {
  show()
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', show)
}

/** Chooses the other theme for this browser. */
export function switchTheme(): void {
  localStorage.setItem(PLACE, currentTheme() === 'dark' ? 'light' : 'dark')
  show()
}

function show(): void {
  document.documentElement.dataset['theme'] = currentTheme()
}

/** Calls back when the theme changes; returns how to stop that. */
export function onThemeChange(callback: () => void): () => void {
  const observer = new MutationObserver(callback)
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
  return () => observer.disconnect()
}
