import ResourceAddressing

/// A playlist that a multivariant playlist leads to, as validation sees it.
struct InspectedChild {
    /// What it is for; where several tags lead to it, the first of variants, I-frame variants and renditions says.
    enum Role: Hashable {
        case variant
        case iFrameVariant
        /// A rendition of this type; `nil` where that is missing or wrong.
        case rendition(String?)
    }

    let role: Role
    /// The tag that leads to it.
    let entry: InspectedEntry
    /// Where the multivariant playlist says that it is.
    let address: ResourceAddress
    let inspection: PlaylistInspection

    let targetDuration: Int64?
    /// `EXT-X-PLAYLIST-TYPE` as written.
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

    /// Where it was loaded from, behind all redirects: what its own addresses stand on.
    var base: ResourceAddress { inspection.context.address ?? address }
    var isSubtitles: Bool { role == .rendition("SUBTITLES") }
}

/// The playlists of a presentation, held against rules together.
struct PresentationInspection {
    let multivariant: PlaylistInspection
    let children: [InspectedChild]
    /// Those that are media playlists.
    let mediaPlaylists: [InspectedChild]

    /// Holds each playlist against the rules by itself.
    ///
    /// - Parameters:
    ///   - multivariant: The multivariant playlist.
    ///   - playlists: What it leads to, by address.
    ///   - sets: The rules.
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

    /// Holds the playlists against the rules about several.
    func inspect(_ sets: Set<RuleSet>) {
        if sets.contains(.rfc) { inspectStandard() }
        if sets.contains(.apple) { inspectApple() }
    }

    /// Notes a rule that the presentation breaks.
    func note(_ rule: String, _ detail: String? = nil) { multivariant.note(rule, line: nil, detail) }

    /// Notes a rule that one of its playlists breaks.
    func note(_ rule: String, in child: InspectedChild, _ detail: String? = nil) {
        child.inspection.note(rule, line: nil, detail)
    }
}
