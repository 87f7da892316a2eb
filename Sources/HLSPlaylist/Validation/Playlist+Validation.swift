import MediaTiming

extension Playlist {
    /// Validates the playlist against sets of rules.
    ///
    /// Rules that concern several playlists, such as equal target durations, are checked by ``PresentationValidation``.
    ///
    /// - Parameter sets: The sets of rules to check; see ``ValidationRule/all``.
    /// - Returns: The violations, in the order of the lines; at most 1,000 for each rule.
    /// - Complexity: O(*n*) in bytes; the playlist is scanned again.
    public func validated(against sets: Set<RuleSet> = [.rfc]) -> [Diagnostic] {
        let inspection = PlaylistInspection(self)
        inspection.inspect(sets)
        return inspection.diagnostics(of: sets)
    }

    /// The problems in the playlist, in the order of its lines.
    ///
    /// These are the violations of RFC 8216bis, and a note for each tag that the standard does not define.
    ///
    /// - Complexity: O(*n*) in bytes; the playlist is scanned again.
    public var diagnostics: [Diagnostic] {
        let inspection = PlaylistInspection(self)
        inspection.inspect([.rfc])
        let notes = inspection.unknownTags.map { tag in
            Diagnostic(
                line: tag.line,
                severity: .note,
                code: "unknown-tag",
                message: "The tag \(tag.name) is not defined by the standard; clients ignore it.",
                section: "6.3.1"
            )
        }
        return (inspection.diagnostics(of: [.rfc]) + notes).sorted { ($0.line ?? 0) < ($1.line ?? 0) }
    }
}

extension PlaylistInspection {
    /// Reads the playlist and checks the rules that concern it alone.
    func inspect(_ sets: Set<RuleSet>) {
        readLines()
        inspectCommon()
        switch kind {
        case .media: inspectMedia()
        case .multivariant: inspectMultivariant()
        }
        guard sets.contains(.apple) else { return }
        switch kind {
        case .media: inspectAppleMedia()
        case .multivariant: inspectAppleMultivariant()
        }
    }
}

extension Playlist {
    /// The lowest protocol version that allows the features of the playlist (RFC 8216bis §8), whatever version it
    /// declares.
    ///
    /// - Complexity: O(*n*) in bytes; the playlist is scanned again.
    public var minimumVersion: Int {
        let inspection = PlaylistInspection(self)
        inspection.readLines()
        return inspection.versionNeeds().map { Int($0.version) }.max() ?? 1
    }
}
