import MediaTiming
import ResourceAddressing

/// The rules of the standard about several playlists (RFC 8216bis §6.2.4).
extension PresentationInspection {
    func inspectStandard() {
        inspectChildren()
        inspectHeaders()
        inspectServerControls()
        inspectDates()
        inspectEndedPlaylists()
        inspectKeys()
        inspectRenditionReports()
    }

    /// What the multivariant playlist says of one media playlist.
    private func inspectChildren() {
        for child in children where child.inspection.kind != .media { note("child-not-media", in: child) }
        let hasIndependentSegments = multivariant.has(.independentSegments)
        let start = multivariant.first(.start).map { multivariant.attributes($0) }
        for child in mediaPlaylists {
            if child.role == .iFrameVariant, !child.isIFramesOnly { note("i-frame-playlist-without-tag", in: child) }
            if hasIndependentSegments, child.inspection.has(.independentSegments) {
                note("independent-segments-in-both", in: child)
            }
            if let start, let other = child.inspection.first(.start).map({ child.inspection.attributes($0) }) {
                let isSame =
                    start.decimal("TIME-OFFSET") == other.decimal("TIME-OFFSET")
                    && (start["PRECISE"] ?? "NO") == (other["PRECISE"] ?? "NO")
                note(isSame ? "start-in-both" : "start-differs", in: child)
            }
        }
    }

    private func inspectHeaders() {
        // Subtitle and I-frame playlists that do not change may have target durations of their own.
        let regular = mediaPlaylists.filter { child in
            !((child.isSubtitles || child.isIFramesOnly) && child.playlistType == "VOD")
        }
        noteDifference("target-durations-differ", regular) { $0.targetDuration }
        noteDifference("playlist-types-differ", mediaPlaylists) { $0.playlistType }
    }

    /// Notes a rule where playlists differ in something.
    private func noteDifference(
        _ rule: String,
        _ playlists: [InspectedChild],
        _ property: (InspectedChild) -> some Equatable
    ) {
        guard let first = playlists.first else { return }
        let expected = property(first)
        if let other = playlists.first(where: { property($0) != expected }) {
            note(rule, "(\(first.address) and \(other.address))")
        }
    }

    private func inspectServerControls() {
        noteDifference("server-controls-differ", mediaPlaylists) { child in
            child.inspection.first(.serverControl).map { child.inspection.attributes($0).values }
        }
    }

    private func inspectDates() {
        let dated = mediaPlaylists.filter { $0.inspection.has(.programDateTime) }
        if !dated.isEmpty, let other = mediaPlaylists.first(where: { !$0.inspection.has(.programDateTime) }) {
            note("program-dates-missing", "(\(other.address))")
        }
        noteDifference("date-ranges-differ", mediaPlaylists.filter { $0.inspection.has(.dateRange) }) { child in
            var merged: [String?: [String: String]] = [:]
            for line in child.inspection.all(.dateRange) {
                let attributes = child.inspection.attributes(line)
                merged[attributes["ID"], default: [:]].merge(attributes.values) { $1 }
            }
            return merged
        }
    }

    /// Whether what has ended has the same length everywhere.
    private func inspectEndedPlaylists() {
        let playlists = mediaPlaylists.filter { !$0.isSubtitles && !$0.isIFramesOnly }
        guard playlists.allSatisfy(\.isEnded) else { return }
        noteDifference("discontinuities-differ", playlists) { child in
            Int128(child.inspection.integer(.discontinuitySequence) ?? 0)
                +| Int128(child.inspection.all(.discontinuity).count)
        }
        guard playlists.allSatisfy({ $0.playlistType == "VOD" }) else { return }
        let durations = playlists.map { child in
            child.inspection.segments.reduce(MediaTime.zero) { $0 + ($1.duration ?? .zero) }
        }
        let allowance = playlists.map { $0.targetDuration ?? 0 }.min() ?? 0
        if let shortest = durations.min(), let longest = durations.max(),
            longest - shortest > MediaTime(seconds: allowance)
        {
            note("durations-differ", "(\(shortest) to \(longest) seconds)")
        }
    }

    // MARK: Keys

    /// What has to be the same in keys with one address.
    private struct KeyIdentity: Equatable {
        let method: String?
        let format: String
        let versions: String

        init(_ key: InspectedAttributes) {
            method = key["METHOD"]
            format = key["KEYFORMAT"] ?? "identity"
            versions = key["KEYFORMATVERSIONS"] ?? "1"
        }
    }

    /// How the media playlists use a key.
    private struct KeyUse {
        var differs = false
        var users = 0
        var lastUser = -1
    }

    private func inspectKeys() {
        var sessionKeys: [ResourceAddress: KeyIdentity] = [:]
        for line in multivariant.all(.sessionKey) {
            let key = multivariant.attributes(line)
            guard let uri = key["URI"] else { continue }
            sessionKeys[multivariant.context.resolve(uri)] = KeyIdentity(key)
        }
        var uses: [ResourceAddress: KeyUse] = [:]
        var order: [ResourceAddress] = []
        for (index, child) in mediaPlaylists.enumerated() {
            for line in child.inspection.all(.key) {
                let key = child.inspection.attributes(line)
                guard let address = key["URI"].map(child.base.resolving) else { continue }
                if uses[address] == nil { order.append(address) }
                var use = uses[address, default: KeyUse()]
                if use.lastUser != index { use.users += 1 }
                use.lastUser = index
                if let known = sessionKeys[address], known != KeyIdentity(key) { use.differs = true }
                uses[address] = use
            }
        }
        for address in order {
            guard let use = uses[address] else { continue }
            if use.differs { note("session-key-differs", "(\(address))") }
            if sessionKeys[address] == nil, use.users > 1 { note("missing-session-key", "(\(address))") }
        }
    }

    // MARK: Reports

    private func inspectRenditionReports() {
        guard mediaPlaylists.contains(where: { !$0.isEnded && $0.inspection.has(.part) }) else { return }
        let playlists = mediaPlaylists.filter { !$0.isIFramesOnly }
        var positions: [String: Set<Int>] = [:]
        for (position, playlist) in playlists.enumerated() {
            for address in [playlist.address, playlist.base] {
                positions[address.withoutQuery, default: []].insert(position)
            }
        }
        for (position, playlist) in playlists.enumerated() {
            let addresses = playlist.inspection.all(.renditionReport).compactMap { line in
                playlist.inspection.attributes(line)["URI"].map { playlist.base.resolving($0).withoutQuery }
            }
            let reported = Set(addresses).reduce(into: Set([position])) { $0.formUnion(positions[$1] ?? []) }
            guard reported.count < playlists.count,
                let missing = playlists.indices.first(where: { !reported.contains($0) })
            else { continue }
            note("rendition-report-missing", in: playlist, "(\(playlists[missing].address))")
        }
    }
}

extension InspectedAttributes {
    /// The values by name, with their variables replaced.
    fileprivate var values: [String: String] {
        Dictionary(all.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    }
}

extension ResourceAddress {
    /// The text before the query and the fragment.
    fileprivate var withoutQuery: String {
        String(Substring(text.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }))
    }
}
