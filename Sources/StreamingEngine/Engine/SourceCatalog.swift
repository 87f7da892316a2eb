import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import ResourceAddressing

/// The variants and options of an item, the selection, and the sources that are temporarily excluded.
struct SourceCatalog: Sendable {
    /// The variants and options; `nil` before the item is opened.
    private(set) var presentation: Presentation?
    var selection = MediaSelection()
    var chooser: VariantChooser
    /// The sources that are excluded by the recovery policy.
    var exclusions = SourceExclusions<StreamSource>()
    /// The renewal of addresses that expire.
    var renewal = AddressRenewal()
    var steering = ContentSteeringState()
    private var clones = PathwayClones()

    init(chooser: VariantChooser) { self.chooser = chooser }

    /// Opens a presentation, and selects options with the given rules.
    mutating func open(
        _ presentation: Presentation,
        _ rules: MediaSelectionRules,
        networkCost: NetworkCost?,
        at now: Duration
    ) {
        self.presentation = presentation
        steering.open(presentation, at: now)
        selection = rules.selection(for: presentation)
        chooser.networkCost = networkCost
        chooser.setPresentation(presentation, selection: selection)
    }

    /// The variants that can be played with the selected options.
    var selectableVariants: [Presentation.Variant] { presentation?.variants(for: selection) ?? [] }

    /// Returns whether a source is excluded.
    func isExcluded(_ source: StreamSource, at now: Duration) -> Bool { exclusions.contains(source, at: now) }

    // MARK: Variants

    func variant(of source: StreamSource?) -> Presentation.Variant? {
        source?.variantID.flatMap { presentation?.variant($0) }
    }

    /// Returns the playlists of a variant, one for each location; never empty.
    ///
    /// They are the playlists of the selected video option, if it has separate ones; for an audio-only variant, those of
    /// the selected audio option.
    func sources(of variant: Presentation.Variant) -> [StreamSource] {
        let option = selection[variant.isAudioOnly ? .audio : .video].map { current($0) }
        return locations(of: variant).enumerated().map { index, location in
            let address = option.flatMap { location.encoding(of: $0)?.address } ?? location.address
            return StreamSource(variant, location: index, address: address, renewal: renewal.count)
        }
    }

    /// Returns the playlists of a variant in the order in which they are used; never empty.
    func orderedSources(of variant: Presentation.Variant, at now: Duration) -> [StreamSource] {
        let all = sources(of: variant)
        guard steering.pathwayID != nil else { return all }
        return ordered(locations(of: variant), at: now).map { all[$0.offset] }
    }

    /// Returns the playlist of a variant, at the first location that is not excluded.
    func source(for variant: Presentation.Variant, at now: Duration) -> StreamSource {
        let all = orderedSources(of: variant, at: now)
        return all.first { !isExcluded($0, at: now) } ?? all[0]
    }

    /// Returns the source that replaces one after a renewal of the addresses; `nil` for an option.
    func renewedSource(of source: StreamSource) -> StreamSource? {
        guard case .variant(_, let location) = source.identity, let variant = variant(of: source) else { return nil }
        let all = sources(of: variant)
        return all.indices.contains(location) ? all[location] : all[0]
    }

    /// Returns whether a source is an I-frame playlist.
    func isTrickPlay(_ source: StreamSource) -> Bool {
        presentation?.iFrameVariants.contains { $0.id == source.variantID } ?? false
    }

    /// Returns whether the audio of a variant is in separate playlists of its audio group.
    func hasSeparateAudio(_ variant: Presentation.Variant) -> Bool {
        guard !variant.isAudioOnly, let group = presentation?.group(.audio) else { return false }
        let encodings = group.options.compactMap { encoding(of: $0, with: variant) }
        return !encodings.isEmpty && encodings.allSatisfy { $0.address != nil }
    }

    /// Returns the variant of another source whose playlist is loaded and lists a segment at a time.
    func variant(
        listing time: MediaTime,
        besides closed: Set<StreamSource>,
        at now: Duration,
        timeline: (StreamSource) -> PresentationTimeline?
    ) -> Presentation.Variant? {
        selectableVariants.first { variant in
            let source = source(for: variant, at: now)
            guard !closed.contains(source), !isExcluded(source, at: now), let timeline = timeline(source),
                let position = timeline.position(atOrAfter: time)
            else { return false }
            return timeline.range(at: position).start - time <= SegmentScheduler.gapTolerance
        }
    }

    // MARK: Renditions

    /// Returns the playlist of an option for a variant; `nil` if the option has no separate playlist.
    func renditionSource(
        _ option: MediaSelectionOption?,
        with main: StreamSource?,
        at now: Duration
    ) -> StreamSource? {
        guard let option = option.map({ current($0) }), let main, let variant = variant(of: main) else {
            return nil
        }
        // An audio-only variant is itself the audio.
        guard !variant.isAudioOnly || option.type != .audio else { return nil }
        let index: Int
        if case .variant(_, let location) = main.identity { index = location } else { index = 0 }
        let locations = self.locations(of: variant)
        let location = locations.indices.contains(index) ? locations[index] : locations[0]
        guard let encoding = location.encoding(of: option), let address = encoding.address else { return nil }
        let source = StreamSource(identity: .option(option.id), address: address, renewal: renewal.count)
        guard isExcluded(source, at: now) else { return source }
        return encodings(of: option, with: variant, at: now).first { !isExcluded($0, at: now) } ?? source
    }

    /// Returns the playlists of an option at all locations and in all groups; those for the variant first.
    private func encodings(
        of option: MediaSelectionOption,
        with variant: Presentation.Variant,
        at now: Duration
    ) -> [StreamSource] {
        guard let presentation else { return [] }
        let option = current(option)
        let known = Dictionary(option.encodings.map { ($0.groupID, $0.address) }) { first, _ in first }
        let all = ([variant] + presentation.variants).flatMap { variant in
            ordered(locations(of: variant), at: now).map(\.element)
        }
        let addresses = all.compactMap { location in
            location.groupIDs[option.type].flatMap { known[$0] ?? nil }
        }
        return addresses.map { StreamSource(identity: .option(option.id), address: $0, renewal: renewal.count) }
    }

    /// Returns whether an option can be loaded from another source than the one that failed.
    func hasOtherRendition(
        _ type: Rendition.MediaType,
        with variant: Presentation.Variant?,
        besides failed: StreamSource,
        at now: Duration
    ) -> Bool {
        guard let option = selection[type], let variant else { return false }
        return encodings(of: option, with: variant, at: now).contains { $0 != failed && !isExcluded($0, at: now) }
    }

    /// Returns the renditions with separate playlists that are played with a variant.
    func renditions(with variant: Presentation.Variant) -> [MediaType: RenditionDescription] {
        var found: [MediaType: RenditionDescription] = [:]
        for (type, mediaType) in [
            (Rendition.MediaType.video, MediaType.video), (.audio, .audio), (.subtitles, .subtitles),
        ] {
            guard let option = selection[type], let encoding = encoding(of: option, with: variant),
                let address = encoding.address
            else { continue }
            found[mediaType] = RenditionDescription(
                stableID: encoding.stableID,
                address: address.withoutUserInformation.text
            )
        }
        return found
    }

    // MARK: Pathways

    /// Returns the current locations of a variant: those of the presentation, then those on pathway clones.
    private func locations(of variant: Presentation.Variant) -> [Presentation.Variant.Location] {
        clones.allLocations(of: variant, renewal)
    }

    /// Returns the current version of an option, with its encodings on pathway clones.
    private func current(_ option: MediaSelectionOption) -> MediaSelectionOption { clones.current(option, renewal) }

    /// Returns the encoding of an option for a variant on the chosen pathway, or else at its first location.
    private func encoding(
        of option: MediaSelectionOption,
        with variant: Presentation.Variant
    ) -> MediaSelectionOption.Encoding? {
        let location = steering.pathwayID.flatMap { id in locations(of: variant).first { $0.pathwayID == id } }
        return location.map { $0.encoding(of: current(option)) } ?? variant.location.encoding(of: option)
    }

    /// Returns locations in the order of preference of their pathways; without steering, in their order.
    private func ordered(
        _ locations: [Presentation.Variant.Location],
        at now: Duration
    ) -> [(offset: Int, element: Presentation.Variant.Location)] {
        let all = Array(locations.enumerated())
        guard steering.pathwayID != nil else { return all }
        return all.map { (rank: steering.rank(of: $0.element.pathwayID, at: now), location: $0) }
            .sorted { ($0.rank, $0.location.offset) < ($1.rank, $1.location.offset) }
            .map(\.location)
    }

    /// Returns the pathway of the playlist of a variant; `nil` for other sources.
    func pathwayID(of source: StreamSource?) -> String? {
        guard case .variant(_, let index) = source?.identity, let variant = variant(of: source) else { return nil }
        let locations = self.locations(of: variant)
        return locations.indices.contains(index) ? locations[index].pathwayID : nil
    }

    /// Adds pathways that a steering manifest derives from others.
    mutating func addPathways(_ new: [PathwayClone]) {
        if let presentation { clones.add(new, to: presentation, renewal) }
    }

    /// Derives the addresses of pathway clones again, after the addresses of the presentation were renewed.
    mutating func renewPathways() {
        if let presentation { clones.update(presentation, renewal) }
    }

    /// Chooses the pathway, and restricts the variants to select from to those that it has.
    mutating func choosePathway(at now: Duration) {
        guard steering.isActive, let presentation,
            steering.choosePathway(among: presentation.pathways + clones.pathways, at: now)
        else { return }
        chooser.pathwayVariants = Set(
            presentation.variants.filter { variant in
                locations(of: variant).contains { $0.pathwayID == steering.pathwayID }
            }.map(\.id)
        )
    }

    /// Records that media of a source failed, and is replaced by that of another one.
    ///
    /// If it is on another pathway, the pathway that failed is not preferred for some time.
    mutating func noteFailure(of failed: StreamSource, replacedBy other: StreamSource, at now: Duration) {
        guard steering.isActive, let pathway = pathwayID(of: failed), pathway != pathwayID(of: other) else { return }
        steering.penalize(pathway, at: now)
        choosePathway(at: now)
    }
}

extension VariantDescription {
    /// Creates the description of a variant for the logs.
    init(_ variant: Presentation.Variant) {
        self.init(
            id: variant.id.text,
            address: variant.address.withoutUserInformation.text,
            peakBitRate: variant.peakBitRate ?? variant.averageBitRate ?? BitRate(bitsPerSecond: 0),
            averageBitRate: variant.averageBitRate,
            width: variant.resolution?.width,
            height: variant.resolution?.height
        )
    }
}
