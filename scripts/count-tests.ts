/** The parts of the test runner's JSON report that are counted. */
export interface TestReport {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly testResults: readonly {
    readonly status: string
    readonly assertionResults: readonly { readonly status: string }[]
  }[]
}

/**
 * The runner's report as `N passed, N failed`. A file that failed without a failed test (it could not be loaded, or
 * its set-up broke) is counted as one failure, so that its tests do not go missing in silence.
 */
export function countTests(report: TestReport): string {
  const brokenFiles = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && assertionResults.every((test) => test.status !== 'failed'),
  ).length
  return `${report.numPassedTests} passed, ${report.numFailedTests + brokenFiles} failed`
}
