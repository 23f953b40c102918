import { existsSync } from 'node:fs'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Where a Chromium is on this machine; null when there is none. */
export const CHROMIUM = PLACES.find((path) => existsSync(path)) ?? null
