import MediaTiming

extension Playlist {
    /// Holds the playlist against rules.
    ///
    /// What needs other playlists too, such as equal target durations, is the business of ``PresentationValidation``.
    ///
    /// - Parameter sets: Which rules; see ``ValidationRule/all``.
    /// - Returns: What breaks them, in the order of the lines; at most some ten thousand entries.
    /// - Complexity: O(*n*) in bytes; the playlist is read once more.
    public func validated(against sets: Set<RuleSet> = [.rfc]) -> [Diagnostic] {
        let inspection = PlaylistInspection(self)
        inspection.inspect(sets)
        return inspection.diagnostics(of: sets)
    }

    /// What is wrong or remarkable in the playlist, in the order of its lines: the rules of RFC 8216bis, and a note for each
    /// tag that it does not know.
    ///
    /// - Complexity: O(*n*) in bytes; the playlist is read once more.
    public var diagnostics: [Diagnostic] {
        let inspection = PlaylistInspection(self)
        inspection.inspect([.rfc])
        let notes = inspection.unknownTags.map { tag in
            Diagnostic(
                line: tag.line,
                severity: .note,
                code: "unknown-tag",
                message: "The tag \(tag.name) is not in the standard; clients pass it over.",
                section: "6.3.1"
            )
        }
        return (inspection.diagnostics(of: [.rfc]) + notes).sorted { ($0.line ?? 0) < ($1.line ?? 0) }
    }
}

extension PlaylistInspection {
    /// Reads the playlist and applies the rules that need no other one.
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
    /// The lowest protocol version that allows what the playlist uses (RFC 8216bis §8), whatever it declares.
    ///
    /// - Complexity: O(*n*) in bytes; the playlist is read once more.
    public var minimumVersion: Int {
        let inspection = PlaylistInspection(self)
        inspection.readLines()
        return inspection.versionNeeds().map { Int($0.version) }.max() ?? 1
    }
}
