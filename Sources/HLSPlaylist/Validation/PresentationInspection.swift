import ResourceAddressing

/// A playlist to which a multivariant playlist refers, prepared for validation.
struct InspectedChild {
    /// The role of the playlist.
    ///
    /// If several tags refer to the playlist, the first of variants, I-frame variants and renditions, in this order,
    /// counts.
    enum Role: Hashable {
        case variant
        case iFrameVariant
        /// A rendition with its type, which is `nil` if it is missing or invalid.
        case rendition(String?)
    }

    let role: Role
    /// The tag that refers to the playlist.
    let entry: InspectedEntry
    /// The URL of the playlist according to the multivariant playlist.
    let address: ResourceAddress
    let inspection: PlaylistInspection

    let targetDuration: Int64?
    /// The value of `EXT-X-PLAYLIST-TYPE` as written.
    let playlistType: String?
    let isEnded: Bool
    let isIFramesOnly: Bool

    init(_ role: Role, _ entry: InspectedEntry, at address: ResourceAddress, _ inspection: PlaylistInspection) {
        self.role = role
        self.entry = entry
        self.address = address
        self.inspection = inspection
        targetDuration = inspection.integer(.targetDuration)
        playlistType = inspection.first(.playlistType).map { inspection.text($0.value) }
        isEnded = inspection.has(.endList)
        isIFramesOnly = inspection.has(.iFramesOnly)
    }

    /// The URL from which the playlist was loaded, after all redirects, which is the base URL of its references.
    var base: ResourceAddress { inspection.context.address ?? address }
    var isSubtitles: Bool { role == .rendition("SUBTITLES") }
}

/// The state of the validation of all playlists of a presentation.
struct PresentationInspection {
    let multivariant: PlaylistInspection
    let children: [InspectedChild]
    /// The children that are media playlists.
    let mediaPlaylists: [InspectedChild]

    /// Creates the state, and validates each playlist on its own.
    ///
    /// - Parameters:
    ///   - multivariant: The multivariant playlist.
    ///   - playlists: The playlists to which it refers, by URL.
    ///   - sets: The sets of rules to check.
    init(_ multivariant: MultivariantPlaylist, _ playlists: [ResourceAddress: Playlist], _ sets: Set<RuleSet>) {
        let inspection = PlaylistInspection(.multivariant(multivariant))
        inspection.inspect(sets)
        let presentation = inspection.presentation(noting: false)
        let entries: [(InspectedChild.Role, InspectedEntry)] =
            presentation.variants.map { (.variant, $0) } + presentation.iFrameVariants.map { (.iFrameVariant, $0) }
            + presentation.renditions.map { (.rendition($0["TYPE"]), $0) }
        var seen: Set<ResourceAddress> = []
        let variables = inspection.variables
        children = entries.compactMap { role, entry in
            guard let address = entry.uri.map(multivariant.context.resolve), let playlist = playlists[address],
                seen.insert(address).inserted
            else { return nil }
            let child = PlaylistInspection(playlist, imports: variables)
            child.inspect(sets)
            return InspectedChild(role, entry, at: address, child)
        }
        mediaPlaylists = children.filter { $0.inspection.kind == .media }
        self.multivariant = inspection
    }

    /// Checks the rules that concern several playlists.
    func inspect(_ sets: Set<RuleSet>) {
        if sets.contains(.rfc) { inspectStandard() }
        if sets.contains(.apple) { inspectApple() }
    }

    /// Reports that the presentation violates a rule.
    func note(_ rule: Rule, _ detail: String? = nil) { multivariant.note(rule, line: nil, detail) }

    /// Reports that one playlist of the presentation violates a rule.
    func note(_ rule: Rule, in child: InspectedChild, _ detail: String? = nil) {
        child.inspection.note(rule, line: nil, detail)
    }
}
