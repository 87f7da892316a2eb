/// A problem in a manifest, with its line.
package struct ManifestDiagnostic: Sendable, Hashable {
    /// The severity of a problem.
    package enum Severity: String, Sendable, Hashable {
        /// The manifest breaks a rule of the standard, and players have to guess.
        case error
        /// Players read the value, though the standard does not allow it.
        case warning
        /// The manifest can be read, but the finding is useful to its author.
        case note
    }

    /// The number of the line, from 1, or `nil` if the problem concerns the whole manifest.
    package let line: Int?
    /// The severity of the problem.
    package let severity: Severity
    /// The rule that the manifest breaks.
    package let code: ManifestRule
    /// A description of the problem, for display.
    package let message: String
    /// The clause of ISO/IEC 23009-1:2022 that contains the rule.
    package let section: String
}
