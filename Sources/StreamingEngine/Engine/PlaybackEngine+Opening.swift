import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import ResourceAddressing

extension PlaybackEngine {
    /// Loads what the address leads to, and decides what is fetched first.
    func open() async throws {
        let began = time.now
        do {
            let (opened, request) = try await SourceOpening(fetch: fetch, kind: kind).open(source)
            reportNotedRequests()
            report(.resourceRequest(request))
            switch opened {
            case .playlist(let playlist, let address): try begin(with: playlist, at: address, loaded: began)
            case .file(let head, let address, let length):
                let file = try await FileOpening(fetch: fetch).open(head, at: address, length: length)
                playbackType = .file
                report(.playbackTypeKnown(.file))
                self.file = file
                try begin(with: .media(file.playlist), at: address, loaded: began)
            }
        } catch let error as TransportError {
            reportNotedRequests()
            let request = TransportRequest(source, kind: .playlist)
            report(
                .resourceRequest(ResourceRequest(.multivariantPlaylist, request, began: began, now: time.now, error))
            )
            throw StreamingError(error, "the playlist")
        }
    }

    private func begin(with playlist: Playlist, at address: ResourceAddress, loaded began: Duration) throws {
        let pipeline = pipeline
        let capabilities = PlaybackCapabilities { pipeline.canDecode([$0]) }
        let presentation = Presentation(playlist, capabilities: capabilities)
        guard !presentation.variants.isEmpty else { throw Self.nothingPlayable(presentation, at: address) }
        if case .media(let media) = playlist { try Self.check(media, at: address) }
        self.presentation = presentation
        selection = options.selectionRules.selection(for: presentation)
        chooser.networkCost = loading.network?.cost
        chooser.open(presentation, selection)
        guard let variant = chooser.first(bufferCapacity: capacity.duration) else {
            throw Self.nothingPlayable(presentation, at: address)
        }
        if case .media(let media) = playlist {
            adopt(media, from: StreamSource(variant, location: 0, address: address), for: .main, loaded: began)
        } else {
            streams[.main].source = source(for: variant)
        }
        beginSwitch(to: variant, cause: "start")
        applyRenditions()
        updateTracks()
        publish()
    }

    static func nothingPlayable(_ presentation: Presentation, at address: ResourceAddress) -> StreamingError {
        let obstacles = presentation.unplayable.flatMap(\.obstacles)
        let isProtected = obstacles.contains { if case .keyFormats = $0 { true } else { false } }
        var seen: Set<String> = []
        let reasons = obstacles.map(\.description).filter { seen.insert($0).inserted }
        guard !reasons.isEmpty else {
            return StreamingError(
                .unreadablePlaylist,
                "the playlist names nothing that could be played",
                address: address
            )
        }
        return StreamingError(
            isProtected ? .protected : .unsupported,
            "none of the variants can be played: " + reasons.joined(separator: "; "),
            address: address
        )
    }

    /// The playlist of a variant, at the first place that is not known to fail.
    func source(for variant: Presentation.Variant) -> StreamSource {
        let all = sources(of: variant)
        return all.first { !isExcluded($0) } ?? all[0]
    }

    /// The playlists of a variant, one for each place where it can be had from; never empty.
    ///
    /// Of one that is sound alone, it is the playlist of the sound that was chosen: there is nothing to go beside it.
    func sources(of variant: Presentation.Variant) -> [StreamSource] {
        variant.locations.indices.map { index in
            let location = variant.locations[index]
            let sound = variant.isAudioOnly ? selection[.audio].flatMap { location.encoding(of: $0)?.address } : nil
            return StreamSource(variant, location: index, address: sound ?? location.address)
        }
    }

    /// Whether a playlist is left alone for now.
    func isExcluded(_ source: StreamSource) -> Bool {
        guard let until = excluded[source] else { return false }
        return until > time.now
    }

    /// The variant that is fetched.
    var fetchedVariant: Presentation.Variant? {
        streams[.main].source?.variantID.flatMap { presentation?.variant($0) }
    }

    /// Another option is played from now on.
    func applySelection(changed type: Rendition.MediaType) {
        guard let presentation else { return }
        chooser.select(selection)
        // Sound may come with other variants only.
        if !isScanning, let variant = fetchedVariant,
            !presentation.variants(for: selection).contains(where: { $0.id == variant.id }),
            let other = chooser.nearest(to: variant)
        {
            streams[.main].source = source(for: other)
            streams[.main].buffer.becomeOutdated(from: position)
            streams[.main].job?.isObsolete = true
            beginSwitch(to: other, cause: "selection")
        }
        let kind: StreamKind? = type == .audio ? .audio : type == .subtitles ? .subtitles : nil
        if type == .audio {
            // What the pictures carry is another language.
            soundOfPicturesStart = streams[.main].buffer.entries.last?.range.end ?? position
            endOfSound = nil
        }
        if type == .audio, !isScanning, let variant = fetchedVariant, variant.isAudioOnly,
            streams[.main].source != source(for: variant)
        {
            streams[.main].source = source(for: variant)
            streams[.main].buffer.becomeOutdated(from: position)
            streams[.main].job?.isObsolete = true
        }
        if type == .audio, streams[.audio].source != nil, let variant = fetchedVariant, !variant.isAudioOnly,
            selection[.audio] != nil, renditionSource(selection[.audio]) == nil
        {
            // The pictures were taken without their sound: they come once more, with it.
            streams[.main].buffer.becomeOutdated(from: position)
            soundOfPicturesStart = position
        }
        applyRenditions(atOnce: true)
        if let kind {
            streams[kind].forgive()
            // What is buffered plays on until the other arrives; it is fetched from the play head on.
            streams[kind].buffer.becomeOutdated(from: position)
        }
        let mediaType: MediaType = type == .audio ? .audio : type == .video ? .video : .subtitles
        report(
            .selectionChanged(SelectionChange(mediaType: mediaType, option: selection[type]?.name, isExplicit: true))
        )
        updateTracks()
    }

    /// Fetches the variant that is pinned, from where its mode says.
    func followPin() {
        guard let variant = chooser.pinned, !isScanning, !isExcluded(source(for: variant)) else { return }
        let stream = streams[.main]
        let isOther = fetchedVariant?.id != variant.id
        if isPositioned, pendingSeek == nil {
            let here = stream.buffer.entries.last { $0.range.start <= position }
            let border = options.pinning == .atOnce ? position : here?.range.end ?? position
            // What is of that variant already stays.
            let other = stream.buffer.entries.first { $0.range.end > border && $0.variant?.id != variant.id.text }
            if options.pinning != .afterBuffer, let other {
                stream.buffer.becomeOutdated(from: max(border, other.range.start))
            }
        }
        guard isOther else { return }
        stream.source = source(for: variant)
        stream.job?.isObsolete = true
        stream.isDecided = false
        stream.pausedUntil = nil
        stream.forgive()
        beginSwitch(to: variant, cause: "pinned")
        applyRenditions()
    }

    /// Another variant is fetched from now on.
    func beginSwitch(to variant: Presentation.Variant, cause: String, predicted: Duration? = nil) {
        var numbers = chooser.numbers(bufferLevel: ahead)
        numbers.predictedBufferLevel = predicted
        var change = VariantSwitch(
            from: streams[.main].switching?.to ?? playedVariant,
            to: VariantDescription(variant),
            cause: cause,
            numbers: numbers,
            loadedTimeRanges: loadedRanges.ranges
        )
        change.renditions = renditions(beside: variant)
        streams[.main].switching = change
        report(.variantSwitchStarted(change))
    }

    /// What is played beside a variant, from playlists of its own.
    func renditions(beside variant: Presentation.Variant) -> [MediaType: RenditionDescription] {
        var found: [MediaType: RenditionDescription] = [:]
        for (type, mediaType) in [
            (Rendition.MediaType.video, MediaType.video), (.audio, .audio), (.subtitles, .subtitles),
        ] {
            guard let option = selection[type], let encoding = variant.location.encoding(of: option),
                let address = encoding.address
            else { continue }
            found[mediaType] = RenditionDescription(stableID: encoding.stableID, address: address.text)
        }
        return found
    }

    /// What the item consists of, as its playlists say it.
    func updateTracks() {
        guard let presentation, let variant = fetchedVariant, !isScanning else { return }
        let codecs = variant.codecs
        var tracks: [PlaybackTrack] = []
        let isMuxed =
            streams[.audio].source == nil && !variant.isAudioOnly && !hasSoundApart(variant)
            && (codecs.isEmpty || !codecs.audio.isEmpty)
        if !variant.isAudioOnly {
            tracks.append(PlaybackTrack(id: 1, mediaType: .video, codec: codecs.video.first))
        }
        if variant.isAudioOnly || isMuxed || streams[.audio].source != nil {
            let language = selection[.audio]?.language
            tracks.append(PlaybackTrack(id: 2, mediaType: .audio, codec: codecs.audio.first, language: language))
        }
        if let text = selection[.subtitles], presentation.group(.subtitles) != nil {
            let codec = codecs.subtitles.first ?? "wvtt"
            tracks.append(PlaybackTrack(id: 3, mediaType: .subtitles, codec: codec, language: text.language))
        }
        guard tracks != self.tracks else { return }
        self.tracks = tracks
        report(.tracksChanged(tracks))
    }
}

extension StreamSource {
    init(_ variant: Presentation.Variant, location: Int, address: ResourceAddress) {
        self.init(identity: .variant(variant.id, location: location), address: address)
    }
}

extension VariantDescription {
    /// A variant, as logs name it.
    init(_ variant: Presentation.Variant) {
        self.init(
            id: variant.id.text,
            address: variant.address.text,
            peakBitRate: variant.peakBitRate ?? variant.averageBitRate ?? BitRate(bitsPerSecond: 0),
            averageBitRate: variant.averageBitRate,
            width: variant.resolution?.width,
            height: variant.resolution?.height
        )
    }
}

extension StreamingError {
    /// What a failure of the transport means for the item.
    init(_ error: TransportError, _ what: String, at address: String? = nil) {
        let isUnreachable = SegmentRecovery.Fault(error, isKey: false) == .unreachable
        self.init(
            isUnreachable ? .unreachable : .notLoaded,
            "\(what) could not be loaded: \(error.message)",
            address: error.address ?? address.map { ResourceAddress($0) },
            status: error.status,
            cause: error
        )
    }
}
