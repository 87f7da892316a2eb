package import ReportFormat

extension EditDefinition {
    /// The definition as JSON, for programs that offer edits to their users.
    package var report: ReportValue {
        .fields([
            "name": .string(name),
            "title": .string(title),
            "summary": .string(summary),
            "playlists": .string(target.rawValue),
            "parameter": parameter?.report,
            "examples": examples.isEmpty ? nil : .strings(examples),
        ])
    }
}

extension EditParameter {
    fileprivate var report: ReportValue {
        .fields([
            "type": .string(kind.rawValue),
            "placeholder": .string(placeholder),
            "unit": unit.map { .string($0) },
            "minimum": minimum.map { .integer($0) },
            "exclusiveMinimum": exclusiveMinimum.map { .integer($0) },
            "maximum": maximum.map { .integer($0) },
            "form": .string(form),
        ])
    }
}

extension EditLimits {
    /// The limits on the edits of one playlist as JSON.
    package var report: ReportValue {
        .fields(["edits": .integer(edits), "sources": .integer(sources)])
    }
}

extension PlaylistEdit {
    /// Returns the definitions of all edits, and the limits on their number, as JSON.
    package static func report(limits: EditLimits = EditLimits()) -> ReportValue {
        .fields(["edits": .array(knownDefinitions.map(\.report)), "limits": limits.report])
    }
}
