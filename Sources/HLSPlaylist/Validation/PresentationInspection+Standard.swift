import MediaTiming
import ResourceAddressing

/// The rules of the standard that concern several playlists (RFC 8216bis §6.2.4).
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

    /// Checks each media playlist against the multivariant playlist.
    private func inspectChildren() {
        for child in children where child.inspection.kind != .media { note(.childNotMedia, in: child) }
        let hasIndependentSegments = multivariant.has(.independentSegments)
        let start = multivariant.first(.start).map { multivariant.attributes($0) }
        for child in mediaPlaylists {
            if child.role == .iFrameVariant, !child.isIFramesOnly { note(.iFramePlaylistWithoutTag, in: child) }
            if hasIndependentSegments, child.inspection.has(.independentSegments) {
                note(.independentSegmentsInBoth, in: child)
            }
            if let start, let other = child.inspection.first(.start).map({ child.inspection.attributes($0) }) {
                let isSame =
                    start.decimal("TIME-OFFSET") == other.decimal("TIME-OFFSET")
                    && (start["PRECISE"] ?? "NO") == (other["PRECISE"] ?? "NO")
                note(isSame ? .startInBoth : .startDiffers, in: child)
            }
        }
    }

    private func inspectHeaders() {
        // Subtitle and I-frame playlists of type `VOD` may have other target durations.
        let regular = mediaPlaylists.filter { child in
            !((child.isSubtitles || child.isIFramesOnly) && child.playlistType == "VOD")
        }
        noteDifference(.targetDurationsDiffer, regular) { $0.targetDuration }
        noteDifference(.playlistTypesDiffer, mediaPlaylists) { $0.playlistType }
    }

    /// Reports a rule if a property is not equal in all playlists.
    private func noteDifference(
        _ rule: Rule,
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
        noteDifference(.serverControlsDiffer, mediaPlaylists) { child in
            child.inspection.first(.serverControl).map { child.inspection.attributes($0).values }
        }
    }

    private func inspectDates() {
        let dated = mediaPlaylists.filter { $0.inspection.has(.programDateTime) }
        if !dated.isEmpty, let other = mediaPlaylists.first(where: { !$0.inspection.has(.programDateTime) }) {
            note(.programDatesMissing, "(\(other.address))")
        }
        noteDifference(.dateRangesDiffer, mediaPlaylists.filter { $0.inspection.has(.dateRange) }) { child in
            var merged: [String?: [String: String]] = [:]
            for line in child.inspection.all(.dateRange) {
                let attributes = child.inspection.attributes(line)
                merged[attributes["ID"], default: [:]].merge(attributes.values) { $1 }
            }
            return merged
        }
    }

    /// Checks that the media playlists of ended presentations have the same discontinuities and durations.
    private func inspectEndedPlaylists() {
        let playlists = mediaPlaylists.filter { !$0.isSubtitles && !$0.isIFramesOnly }
        guard playlists.allSatisfy(\.isEnded) else { return }
        noteDifference(.discontinuitiesDiffer, playlists) { child in
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
            note(.durationsDiffer, "(\(shortest) to \(longest) seconds)")
        }
    }

    // MARK: Keys

    /// The attributes that must be equal in all keys with the same URI.
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

    /// The use of a key by the media playlists.
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
            if use.differs { note(.sessionKeyDiffers, "(\(address))") }
            if sessionKeys[address] == nil, use.users > 1 { note(.missingSessionKey, "(\(address))") }
        }
    }

    // MARK: Rendition reports

    private func inspectRenditionReports() {
        guard mediaPlaylists.contains(where: { !$0.isEnded && $0.inspection.has(.part) }) else { return }
        let playlists = mediaPlaylists.filter { !$0.isIFramesOnly }
        // URLs that lead to the same playlist by redirects are treated as one.
        var resources = SharedResources()
        let ids = playlists.map { resources.insert($0.address.withoutQuery, $0.base.withoutQuery) }
        var order: [(resource: Int, playlist: InspectedChild)] = []
        var seen: Set<Int> = []
        for (playlist, id) in zip(playlists, ids) {
            let resource = resources.root(id)
            if seen.insert(resource).inserted { order.append((resource, playlist)) }
        }
        for (playlist, id) in zip(playlists, ids) {
            var reported: Set = [resources.root(id)]
            for line in playlist.inspection.all(.renditionReport) {
                guard let uri = playlist.inspection.attributes(line)["URI"],
                    let resource = resources.resource(of: playlist.base.resolving(uri).withoutQuery)
                else { continue }
                reported.insert(resource)
            }
            // The search is short: every element before the result is a reported playlist.
            guard reported.count < order.count, let missing = order.first(where: { !reported.contains($0.resource) })
            else { continue }
            note(.renditionReportMissing, in: playlist, "(\(missing.playlist.address))")
        }
    }
}

/// The URLs of the playlists of a presentation, grouped by resource (a disjoint-set forest).
private struct SharedResources {
    private var positions: [String: Int] = [:]
    private var parents: [Int] = []

    /// Records that two URLs refer to the same resource.
    ///
    /// - Returns: The position of the first URL.
    mutating func insert(_ first: String, _ second: String) -> Int {
        let position = insert(first)
        let (root, other) = (root(position), root(insert(second)))
        parents[max(root, other)] = min(root, other)
        return position
    }

    private mutating func insert(_ address: String) -> Int {
        if let position = positions[address] { return position }
        positions[address] = parents.count
        parents.append(parents.count)
        return parents.count - 1
    }

    /// Returns the position that represents the resource of the URL at a position.
    mutating func root(_ position: Int) -> Int {
        var position = position
        while parents[position] != position {
            parents[position] = parents[parents[position]]
            position = parents[position]
        }
        return position
    }

    /// Returns the resource of a URL, or `nil` if it does not belong to the presentation.
    mutating func resource(of address: String) -> Int? { positions[address].map { root($0) } }
}

extension InspectedAttributes {
    /// The values by name, with variables replaced.
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
