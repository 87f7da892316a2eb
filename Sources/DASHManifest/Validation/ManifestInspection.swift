import MediaTiming

extension MediaPresentation {
    /// Validates the manifest against the rules of ISO/IEC 23009-1.
    ///
    /// - Returns: The violations in the order of the lines; at most 1,000 of each rule that the parser does not report.
    /// - Complexity: O(*n* log *n*) in the elements.
    package func validated() -> [ManifestDiagnostic] {
        var inspection = ManifestInspection(self)
        inspection.inspect()
        let known = diagnostics.map { diagnostic in
            let definition = diagnostic.code.definition
            return ManifestDiagnostic(
                line: diagnostic.line,
                severity: definition.severity,
                code: diagnostic.code,
                message: "\(definition.statement) (\(diagnostic.message))",
                section: definition.section
            )
        }
        return (known + inspection.diagnostics).enumerated()
            .sorted { ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset) }.map(\.element)
    }
}

/// A check of the rules that concern more than the form of a single element.
struct ManifestInspection {
    /// The maximum number of violations of one rule that are listed.
    private static let maximumCount = 1_000

    /// A violation that was reported: two representations that share an element with a mistake report it once.
    private struct Finding: Hashable {
        let rule: ManifestRule
        let line: Int
        let detail: String
    }

    let presentation: MediaPresentation
    private(set) var diagnostics: [ManifestDiagnostic] = []
    private var counts: [ManifestRule: Int] = [:]
    private var findings: Set<Finding> = []

    init(_ presentation: MediaPresentation) {
        self.presentation = presentation
    }

    mutating func inspect() {
        inspectPresentation()
        inspectPeriods()
        inspectElements(presentation.element)
        inspectProtectionReferences()
    }

    /// Reports the violation of a rule.
    ///
    /// - Parameters:
    ///   - rule: The rule.
    ///   - element: The element that violates it.
    ///   - detail: What was found, empty if the line says it.
    mutating func report(_ rule: ManifestRule, _ element: ManifestElement, _ detail: String = "") {
        guard counts[rule, default: 0] < Self.maximumCount else { return }
        guard findings.insert(Finding(rule: rule, line: element.line, detail: detail)).inserted else { return }
        counts[rule, default: 0] += 1
        let definition = rule.definition
        diagnostics.append(
            ManifestDiagnostic(
                line: element.line,
                severity: definition.severity,
                code: rule,
                message: detail.isEmpty ? definition.statement : "\(definition.statement) (\(detail))",
                section: definition.section
            )
        )
    }

    /// Reports a violation by the value of an attribute.
    mutating func report(_ rule: ManifestRule, _ element: ManifestElement, value: String) {
        report(rule, element, "“\(value.prefix(100))”")
    }
}
