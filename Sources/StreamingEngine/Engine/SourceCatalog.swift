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

    init(chooser: VariantChooser) { self.chooser = chooser }

    /// Opens a presentation, and selects options with the given rules.
    mutating func open(_ presentation: Presentation, _ rules: MediaSelectionRules, networkCost: NetworkCost?) {
        self.presentation = presentation
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
        let option = selection[variant.isAudioOnly ? .audio : .video].map { renewal.current($0) }
        return renewal.locations(of: variant).enumerated().map { index, location in
            let address = option.flatMap { location.encoding(of: $0)?.address } ?? location.address
            return StreamSource(variant, location: index, address: address, renewal: renewal.count)
        }
    }

    /// Returns the playlist of a variant, at the first location that is not excluded.
    func source(for variant: Presentation.Variant, at now: Duration) -> StreamSource {
        let all = sources(of: variant)
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
        let encodings = group.options.compactMap { variant.location.encoding(of: $0) }
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
        guard let option = option.map({ renewal.current($0) }), let main, let variant = variant(of: main) else {
            return nil
        }
        // An audio-only variant is itself the audio.
        guard !variant.isAudioOnly || option.type != .audio else { return nil }
        let index: Int
        if case .variant(_, let location) = main.identity { index = location } else { index = 0 }
        let locations = renewal.locations(of: variant)
        let location = locations.indices.contains(index) ? locations[index] : locations[0]
        guard let encoding = location.encoding(of: option), let address = encoding.address else { return nil }
        let source = StreamSource(identity: .option(option.id), address: address, renewal: renewal.count)
        guard isExcluded(source, at: now) else { return source }
        return encodings(of: option, with: variant).first { !isExcluded($0, at: now) } ?? source
    }

    /// Returns the playlists of an option at all locations and in all groups; those for the variant first.
    private func encodings(of option: MediaSelectionOption, with variant: Presentation.Variant) -> [StreamSource] {
        guard let presentation else { return [] }
        let option = renewal.current(option)
        let known = Dictionary(option.encodings.map { ($0.groupID, $0.address) }) { first, _ in first }
        let locations = ([variant] + presentation.variants).flatMap { renewal.locations(of: $0) }
        let addresses = locations.compactMap { location in
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
        return encodings(of: option, with: variant).contains { $0 != failed && !isExcluded($0, at: now) }
    }

    /// Returns the renditions with separate playlists that are played with a variant.
    func renditions(with variant: Presentation.Variant) -> [MediaType: RenditionDescription] {
        var found: [MediaType: RenditionDescription] = [:]
        for (type, mediaType) in [
            (Rendition.MediaType.video, MediaType.video), (.audio, .audio), (.subtitles, .subtitles),
        ] {
            guard let option = selection[type], let encoding = variant.location.encoding(of: option),
                let address = encoding.address
            else { continue }
            found[mediaType] = RenditionDescription(
                stableID: encoding.stableID,
                address: address.withoutUserInformation.text
            )
        }
        return found
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
