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

    /// The kind of a problem; the raw value is stable, for logs and filters.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        case foreignNamespace = "dash-foreign-namespace"
        case undeclaredPrefix = "dash-undeclared-prefix"
        case unknownElement = "dash-unknown-element"
        case misplacedElement = "dash-misplaced-element"
        case unknownAttribute = "dash-unknown-attribute"
        case missingAttribute = "dash-missing-attribute"
        case invalidValue = "dash-invalid-value"
        case invalidType = "dash-invalid-type"
        case calendarDuration = "dash-calendar-duration"
        case missingTimeZone = "dash-missing-time-zone"
        case noPeriod = "dash-no-period"
        case duplicateRepresentation = "dash-duplicate-representation-id"
        case invalidTemplate = "dash-invalid-template"
        case invalidTimeline = "dash-invalid-timeline"
        case omittedDiagnostics = "dash-omitted-diagnostics"
    }

    /// The number of the line, from 1, or `nil` if the problem concerns the whole manifest.
    package let line: Int?
    /// The severity of the problem.
    package let severity: Severity
    /// The kind of the problem.
    package let code: Code
    /// A description of the problem, for display.
    package let message: String
    /// The clause of ISO/IEC 23009-1:2022 that contains the rule.
    package let section: String
}
