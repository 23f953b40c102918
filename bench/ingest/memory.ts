import { readFileSync } from 'node:fs'

/** The most memory that two processes held at once, sampled: the service, and the engine that it started. */
export interface Memory {
  readonly serviceMegabytes: number
  readonly engineMegabytes: number
}

const EVERY_MS = 200

/** Watches the memory of a service of this machine and of its engine, as Linux counts it. */
export function watchMemory(servicePid: number): { stop(): Memory } {
  let [serviceMegabytes, engineMegabytes] = [0, 0]
  const look = (): void => {
    serviceMegabytes = Math.max(serviceMegabytes, residentMegabytes(servicePid))
    for (const child of childrenOf(servicePid)) {
      engineMegabytes = Math.max(engineMegabytes, residentMegabytes(child))
    }
  }
  const timer = setInterval(look, EVERY_MS)
  return {
    stop: () => {
      clearInterval(timer)
      look()
      return { serviceMegabytes, engineMegabytes }
    },
  }
}

function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
      .trim()
      .split(' ')
      .filter((child) => child !== '')
      .map(Number)
  } catch {
    return []
  }
}

function residentMegabytes(pid: number): number {
  try {
    const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0'
    return Math.round(Number(kilobytes) / 1024)
  } catch {
    return 0
  }
}
