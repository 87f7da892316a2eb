import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import SegmentFormat

/// The sources of the tracks, and the switches between sources.
struct FetchPlan: Sendable {
    /// The policy that decides how to continue after failures of the tracks.
    let policy: RecoveryPolicy
    var catalog: SourceCatalog
    var tracks = TrackSet()
    /// The tracks that are reported as those of the item.
    var trackList = PlaybackTrackList()
    private var switches = VariantSwitches()
    private let keepUp = KeepUpRule()

    init(policy: RecoveryPolicy, chooser: VariantChooser) {
        self.policy = policy
        catalog = SourceCatalog(chooser: chooser)
    }

    /// The variant at the playhead; `nil` before playback begins.
    var playedVariant: VariantDescription? { switches.playedVariant }

    /// The variant that is fetched.
    var fetchedVariant: Presentation.Variant? { catalog.variant(of: tracks.main.source) }

    /// Returns the source of a variant, at the first location that is not excluded.
    private func source(for variant: Presentation.Variant, _ moment: PlaybackMoment) -> StreamSource {
        catalog.source(for: variant, at: moment.now)
    }

    /// Returns the state of the buffer ahead of the playhead.
    func bufferState(_ moment: PlaybackMoment, startOfPlayback start: MediaTime) -> BufferState {
        tracks.bufferState(moment, startOfPlayback: start) { ahead, segment in
            keepUp.isSufficient(
                bufferedDuration: ahead,
                mediaBitRate: catalog.chooser.neededBitRate(of: fetchedVariant, rate: moment.desiredRate),
                throughput: catalog.chooser.throughput,
                segmentDuration: segment
            )
        }
    }

    // MARK: Variants

    /// Begins fetching with a variant.
    mutating func begin(with variant: Presentation.Variant, _ moment: PlaybackMoment, _ sink: inout EffectSink) {
        if tracks.main.source == nil { tracks.main.source = source(for: variant, moment) }
        beginSwitch(to: variant, cause: "start", moment, &sink)
        applyRenditions(moment, &sink)
        updateTracks(&sink)
    }

    /// Switches to a variant that the selector chose, from the next segment on.
    mutating func follow(_ choice: VariantChooser.Choice, _ moment: PlaybackMoment, _ sink: inout EffectSink) {
        let former = catalog.pathwayID(of: tracks.main.source)
        tracks.main.source = source(for: choice.variant, moment)
        tracks.main.isVariantDecided = true
        beginSwitch(to: choice.variant, cause: choice.cause, predicted: choice.predictedBufferLevel, moment, &sink)
        if catalog.steering.isActive, catalog.pathwayID(of: tracks.main.source) != former {
            moveRenditions(moment, &sink)
        }
        applyRenditions(moment, &sink)
    }

    /// Switches to the pinned variant; ``StreamingOptions/pinning`` determines the part of the buffer that is replaced.
    mutating func followPin(_ moment: PlaybackMoment, _ sink: inout EffectSink) {
        guard let variant = catalog.chooser.pinned, !tracks.trickPlay.isActive,
            !catalog.isExcluded(source(for: variant, moment), at: moment.now)
        else { return }
        let isOther = fetchedVariant?.id != variant.id
        if moment.isSettled {
            let mode = moment.limits.pinning
            let current = tracks.main.buffer.entries.last { $0.range.start <= moment.position }
            let start = mode == .atOnce ? moment.position : current?.range.end ?? moment.position
            // Buffered media of the pinned variant is not replaced.
            let other = tracks.main.buffer.entries.first {
                $0.range.end > start && $0.variant?.id != variant.id.text
            }
            if mode != .afterBuffer, let other {
                tracks.main.buffer.markOutdated(from: max(start, other.range.start))
            }
        }
        guard isOther else { return }
        tracks.main.change(to: source(for: variant, moment))
        tracks.main.isVariantDecided = false
        tracks.main.failures.reset()
        beginSwitch(to: variant, cause: "pinned", moment, &sink)
        applyRenditions(moment, &sink)
    }

    private mutating func beginSwitch(
        to variant: Presentation.Variant,
        cause: String,
        predicted: Duration? = nil,
        _ moment: PlaybackMoment,
        _ sink: inout EffectSink
    ) {
        var numbers = catalog.chooser.evidence(bufferLevel: tracks.ahead(moment))
        numbers.predictedBufferLevel = predicted
        switches.begin(
            to: variant,
            cause: cause,
            evidence: numbers,
            loaded: tracks.loadedRanges(moment).ranges,
            renditions: catalog.renditions(with: variant),
            &sink
        )
    }

    /// Ends the switch to a source whose playlist could not be loaded.
    mutating func failSwitch(to source: StreamSource, _ sink: inout EffectSink) {
        switches.fail(to: source, &sink)
    }

    /// Returns to the source before the switch that is in progress.
    mutating func revertSwitch(to previous: StreamSource, _ moment: PlaybackMoment, _ sink: inout EffectSink) {
        switches.fail(&sink)
        tracks.main.source = previous
        applyRenditions(moment, &sink)
        sink.noteChange()
    }

    /// Reports a change of the variant at the playhead.
    mutating func notePlayedVariant(_ moment: PlaybackMoment, bufferLevel: Duration, _ sink: inout EffectSink) {
        guard let variant = tracks.main.buffer.variant(at: moment.position), variant != playedVariant else { return }
        let listed = catalog.presentation?.variants.first { $0.id.text == variant.id }
        switches.play(
            variant,
            evidence: catalog.chooser.evidence(bufferLevel: bufferLevel),
            loaded: tracks.loadedRanges(moment).ranges,
            renditions: listed.map { catalog.renditions(with: $0) },
            &sink
        )
        updateTracks(&sink)
    }

    // MARK: Renewed addresses

    /// Renews the addresses of the item after the failure of a resource, if they may have expired.
    ///
    /// - Parameters:
    ///   - error: The failure.
    ///   - resource: The kind of resource that failed.
    ///   - source: The source of the resource.
    ///   - kind: The track to which the resource belongs.
    ///   - sink: The collector of effects.
    /// - Returns: Whether the track waits for the renewal, so that the failure needs no other recovery.
    mutating func renewAddresses(
        after error: StreamingError,
        of resource: AddressRenewal.Resource,
        from source: StreamSource,
        for kind: TrackKind,
        _ sink: inout EffectSink
    ) -> Bool {
        guard
            let beginning = catalog.renewal.begin(
                after: error.status,
                of: resource,
                from: source,
                nextRequest: { sink.nextRequest() }
            )
        else { return false }
        switch beginning {
        case .begun(let request): sink.add(.begin(.reopen(request: request)))
        case .joined: break
        // The track has a new source, unless the new version of the presentation lacks it.
        case .isDone: if tracks[kind].source == source { return false }
        }
        sink.reportRecovered(error)
        sink.noteChange()
        return true
    }

    /// Ends a renewal, and changes the tracks to the new addresses.
    ///
    /// What is buffered and the transfers that are in progress are kept. If the renewal failed, the resources that
    /// failed are requested again, and the usual recovery follows.
    mutating func endRenewal(
        _ request: Int,
        with presentation: Presentation?,
        _ moment: PlaybackMoment,
        _ sink: inout EffectSink
    ) {
        guard catalog.renewal.end(request, with: presentation) else { return }
        sink.noteChange()
        guard presentation != nil else { return }
        catalog.renewPathways()
        if let main = tracks.main.source, let source = catalog.renewedSource(of: main) { tracks.main.source = source }
        moveRenditions(moment, &sink)
    }

    /// Sets the sources of audio and subtitles to those for the fetched variant, while their transfers continue.
    private mutating func moveRenditions(_ moment: PlaybackMoment, _ sink: inout EffectSink) {
        for kind in [TrackKind.audio, .subtitles] where tracks[kind].source != nil {
            let option = catalog.selection[kind == .audio ? .audio : .subtitles]
            guard let source = catalog.renditionSource(option, with: tracks.main.source, at: moment.now),
                source != tracks[kind].source
            else { continue }
            tracks[kind].source = source
            sink.noteChange()
        }
    }

    /// Continues with the fetched variant and its renditions on the pathway that is preferred now, from the next segment
    /// on.
    mutating func followPathway(_ moment: PlaybackMoment, _ sink: inout EffectSink) {
        guard catalog.steering.pathwayID != nil, let current = tracks.main.source, let variant = fetchedVariant else {
            return
        }
        let preferred = source(for: variant, moment)
        if catalog.pathwayID(of: preferred) != catalog.pathwayID(of: current),
            !catalog.isExcluded(preferred, at: moment.now), !tracks.main.failures.tried.contains(preferred)
        {
            tracks.main.source = preferred
            moveRenditions(moment, &sink)
            applyRenditions(moment, &sink)
            sink.noteChange()
        } else {
            moveRenditions(moment, &sink)
        }
    }

    // MARK: Other sources

    /// Records the failure of a resource of a track.
    ///
    /// - Parameters:
    ///   - failure: The failure.
    ///   - resource: The resource that failed.
    ///   - source: The source of the resource.
    ///   - kind: The track to which the resource belongs.
    ///   - moment: The state of playback.
    ///   - change: A closure that completes the circumstances of the failure.
    /// - Returns: The action that the caller must perform.
    mutating func recover(
        from failure: RecoveryPolicy.Failure,
        of resource: RecoveryPolicy.Resource,
        from source: StreamSource,
        for kind: TrackKind,
        _ moment: PlaybackMoment,
        _ change: (inout RecoveryPolicy.Circumstances) -> Void
    ) -> RecoveryPolicy.Action {
        var circumstances = RecoveryPolicy.Circumstances(RecoveryPolicy.Track(kind), timeout: moment.limits.patience)
        circumstances.isTrickPlay = kind == .main && tracks.trickPlay.isActive
        circumstances.hasOtherSource = hasOtherSource(for: kind, besides: source, at: moment.now)
        change(&circumstances)
        return policy.action(
            after: failure,
            of: resource,
            from: source,
            circumstances,
            &tracks[kind].failures.history,
            &catalog.exclusions,
            at: moment.now
        )
    }

    /// Switches a track to another source: to another location of the same variant if possible, otherwise to another
    /// variant.
    ///
    /// - Returns: Whether there is another source.
    mutating func useOtherSource(
        for kind: TrackKind,
        besides failed: StreamSource,
        cause: String,
        _ moment: PlaybackMoment,
        _ sink: inout EffectSink
    ) -> Bool {
        guard kind == .main else { return useOtherRendition(for: kind, besides: failed, moment, &sink) }
        guard let source = otherSource(besides: failed, at: moment.now) else { return false }
        // A gap is declared by the playlist, and is not a failure of the pathway.
        if cause != "gap" { catalog.noteFailure(of: failed, replacedBy: source, at: moment.now) }
        if let variant = catalog.variant(of: source), variant.id != catalog.variant(of: failed)?.id {
            fetch(variant, from: source, cause: cause, moment, &sink)
        } else {
            tracks.main.source = source
            tracks.main.isVariantDecided = true
            applyRenditions(moment, &sink)
            sink.noteChange()
        }
        return true
    }

    /// Returns a source of the main track other than one that failed; `nil` if there is none, or during trick play.
    private func otherSource(besides failed: StreamSource, at now: Duration) -> StreamSource? {
        guard !tracks.trickPlay.isActive else { return nil }
        let closed = tracks.main.failures.tried
        func openSource(of variant: Presentation.Variant) -> StreamSource? {
            catalog.orderedSources(of: variant, at: now).first {
                $0 != failed && !closed.contains($0) && !catalog.isExcluded($0, at: now)
            }
        }
        let current = catalog.variant(of: failed)
        if let source = current.flatMap(openSource) { return source }
        // A switch to a variant outside the ladder is visible, but better than a failure.
        let others = catalog.selectableVariants.filter { !catalog.chooser.contains($0) }
        for variant in catalog.chooser.alternatives(to: current) + others where variant.id != current?.id {
            if let source = openSource(of: variant) { return source }
        }
        return nil
    }

    /// Fetches the next segment from a given variant, without the selector, which would choose the variant that failed.
    private mutating func fetch(
        _ variant: Presentation.Variant,
        from source: StreamSource,
        cause: String,
        _ moment: PlaybackMoment,
        _ sink: inout EffectSink
    ) {
        tracks.main.source = source
        tracks.main.isVariantDecided = true
        beginSwitch(to: variant, cause: cause, moment, &sink)
        applyRenditions(moment, &sink)
        sink.noteChange()
    }

    /// Fetches a range from another variant whose playlist is known to list it.
    ///
    /// - Returns: Whether there is such a variant.
    mutating func fill(
        _ gap: MediaTimeRange,
        _ moment: PlaybackMoment,
        _ sink: inout EffectSink,
        timeline: (StreamSource) -> PresentationTimeline?
    ) -> Bool {
        guard catalog.presentation != nil, let current = tracks.main.source else { return false }
        tracks.main.failures.tried.insert(current)
        let closed = tracks.main.failures.tried
        guard let variant = catalog.variant(listing: gap.start, besides: closed, at: moment.now, timeline: timeline)
        else { return false }
        fetch(variant, from: source(for: variant, moment), cause: "not-listed", moment, &sink)
        return true
    }

    /// Switches audio or subtitles to another playlist of the same option.
    ///
    /// - Returns: Whether there is another playlist.
    mutating func useOtherRendition(
        for kind: TrackKind,
        besides failed: StreamSource,
        _ moment: PlaybackMoment,
        _ sink: inout EffectSink
    ) -> Bool {
        applyRenditions(moment, &sink)
        guard let source = tracks[kind].source, source != failed, !catalog.isExcluded(source, at: moment.now) else {
            return false
        }
        sink.noteChange()
        return true
    }

    /// Returns whether a track has a source that can replace one that failed.
    private func hasOtherSource(for kind: TrackKind, besides failed: StreamSource, at now: Duration) -> Bool {
        switch kind {
        case .main: otherSource(besides: failed, at: now) != nil
        case .audio: catalog.hasOtherRendition(.audio, with: fetchedVariant, besides: failed, at: now)
        case .subtitles: catalog.hasOtherRendition(.subtitles, with: fetchedVariant, besides: failed, at: now)
        }
    }

    /// Continues without audio or subtitles that cannot be loaded.
    mutating func drop(_ kind: TrackKind, _ sink: inout EffectSink) {
        // If audio comes muxed with the video soon, it is missing only until then.
        if kind == .audio, tracks.separateAudioEnd != nil { return useMuxedAudio(&sink) }
        let mediaType = mediaType(of: kind)
        tracks[kind].source = nil
        tracks[kind].failures.terminalError = nil
        catalog.selection[kind == .audio ? .audio : .subtitles] = nil
        sink.report(.selectionChanged(SelectionChange(mediaType: mediaType, option: nil, isExplicit: false)))
        updateTracks(&sink)
        sink.noteChange()
    }

    // MARK: Selection

    /// Selects an option, which is played as soon as it is loaded.
    mutating func select(
        _ option: MediaSelectionOption?,
        for type: Rendition.MediaType,
        _ moment: PlaybackMoment,
        _ sink: inout EffectSink
    ) {
        guard let presentation = catalog.presentation else { return }
        if let option, presentation.group(type)?.option(option.id) == nil { return }
        guard catalog.selection[type] != option else { return }
        catalog.selection[type] = option
        catalog.chooser.select(catalog.selection)
        switchForSelection(cause: "selection", moment, &sink)
        if type == .audio { outdateAudio(moment) }
        if type == .video { changeVideo(moment, &sink) }
        applyRenditions(atOnce: true, moment, &sink)
        let kind: TrackKind? = type == .audio ? .audio : type == .subtitles ? .subtitles : nil
        if let kind {
            tracks[kind].failures.reset()
            if kind == .audio {
                // The former option is played until the new one is loaded, from the playhead on.
                tracks.audio.buffer.markOutdated(from: moment.position)
            } else {
                // Cues of two options would be displayed above each other.
                tracks.subtitles.buffer.discardAll()
                sink.command(.discard([.allSubtitles]))
            }
        }
        let mediaType: MediaType = type == .audio ? .audio : type == .video ? .video : .subtitles
        sink.report(
            .selectionChanged(SelectionChange(mediaType: mediaType, option: option?.name, isExplicit: true))
        )
        updateTracks(&sink)
        sink.noteChange()
    }

    /// Switches to another variant if the fetched one does not have the selected options.
    private mutating func switchForSelection(cause: String, _ moment: PlaybackMoment, _ sink: inout EffectSink) {
        guard !tracks.trickPlay.isActive, let variant = fetchedVariant,
            !catalog.selectableVariants.contains(where: { $0.id == variant.id }),
            let other = catalog.chooser.nearest(to: variant)
        else { return }
        tracks.main.source = source(for: other, moment)
        tracks.main.buffer.markOutdated(from: moment.position)
        tracks.main.abandonTransfer()
        beginSwitch(to: other, cause: cause, moment, &sink)
    }

    /// Replaces the fetched playlist if it is not that of the selected video option, for example of a camera angle.
    ///
    /// The buffered media is replaced from the playhead on.
    private mutating func changeVideo(_ moment: PlaybackMoment, _ sink: inout EffectSink) {
        guard !tracks.trickPlay.isActive, let variant = fetchedVariant, let current = tracks.main.source,
            !catalog.sources(of: variant).contains(current)
        else { return }
        tracks.main.change(to: source(for: variant, moment))
        tracks.main.isVariantDecided = false
        tracks.main.failures.reset()
        tracks.main.buffer.markOutdated(from: moment.position)
    }

    /// Marks the media of the main track as outdated, if its audio is not the selected option.
    private mutating func outdateAudio(_ moment: PlaybackMoment) {
        // The audio that is muxed with the buffered video is not the selected option.
        tracks.muxedAudioStart = tracks.main.buffer.entries.last?.range.end ?? moment.position
        tracks.separateAudioEnd = nil
        guard let variant = fetchedVariant else { return }
        if variant.isAudioOnly {
            let source = source(for: variant, moment)
            guard !tracks.trickPlay.isActive, tracks.main.source != source else { return }
            tracks.main.source = source
            tracks.main.buffer.markOutdated(from: moment.position)
            tracks.main.abandonTransfer()
        } else if tracks.audio.source != nil, let option = catalog.selection[.audio],
            catalog.renditionSource(option, with: tracks.main.source, at: moment.now) == nil
        {
            // Video that was appended without its muxed audio is fetched again with it.
            tracks.main.buffer.markOutdated(from: moment.position)
            tracks.muxedAudioStart = moment.position
        }
    }

    // MARK: Renditions

    /// Sets the sources of audio and subtitles to those of the selected options for the fetched variant.
    ///
    /// - Parameters:
    ///   - atOnce: Whether audio that is muxed with video replaces the buffer at once, because the application selected
    ///     it; otherwise it is used after the end of the buffer.
    ///   - moment: The state of playback.
    ///   - sink: The collector of effects.
    mutating func applyRenditions(atOnce: Bool = false, _ moment: PlaybackMoment, _ sink: inout EffectSink) {
        for kind in [TrackKind.audio, .subtitles] {
            let option = catalog.selection[kind == .audio ? .audio : .subtitles]
            let wanted = catalog.renditionSource(option, with: tracks.main.source, at: moment.now)
            guard tracks[kind].source != wanted else {
                if kind == .audio { tracks.separateAudioEnd = nil }
                continue
            }
            if kind == .audio {
                if wanted == nil, !atOnce, let end = tracks.endOfSeparateAudio(moment, isAudioSelected: option != nil) {
                    // Audio is fetched separately for the buffered video that was appended without audio.
                    tracks.separateAudioEnd = end
                    sink.noteChange()
                    continue
                }
                if wanted == nil, !atOnce, let target = moment.seek?.target, fetchedVariant?.isAudioOnly == false {
                    tracks.outdateVideoWithoutAudio(from: target)
                }
                tracks.separateAudioEnd = nil
            }
            tracks[kind].change(to: wanted)
            sink.noteChange()
        }
    }

    /// Stops fetching audio separately, because it comes muxed with the video.
    mutating func useMuxedAudio(_ sink: inout EffectSink) {
        tracks.separateAudioEnd = nil
        tracks.audio.change(to: nil)
        updateTracks(&sink)
        sink.noteChange()
    }

    // MARK: Trick play

    /// Returns the I-frame playlist for the current rate; `nil` if all frames are played at that rate.
    func trickPlaySource(_ moment: PlaybackMoment) -> StreamSource? {
        guard let presentation = catalog.presentation, fetchedVariant?.isAudioOnly != true else { return nil }
        let open = presentation.iFrameVariants.filter {
            !catalog.isExcluded(source(for: $0, moment), at: moment.now)
        }
        // The I-frame variant is not changed during trick play, because the size of the video would change.
        if tracks.trickPlay.isActive, let current = tracks.main.source, !catalog.isExcluded(current, at: moment.now),
            open.contains(where: { catalog.sources(of: $0).contains(current) })
        {
            return current
        }
        let throughput = catalog.chooser.throughput
        return TrickPlay.variant(of: open, rate: moment.desiredRate, throughput: throughput).map {
            source(for: $0, moment)
        }
    }

    /// Begins trick play, or changes its I-frame playlist.
    mutating func beginTrickPlay(with source: StreamSource, _ moment: PlaybackMoment, _ sink: inout EffectSink) {
        if !tracks.trickPlay.isActive, let current = tracks.main.source {
            let timeline = tracks.main.playlistSource == current ? tracks.main.timeline : nil
            tracks.trickPlay = .on(TrickPlay.Return(source: current, timeline: timeline))
        }
        change(to: source, cause: "trick-play", moment, &sink)
    }

    /// Returns to the source before trick play, after the I-frames were removed.
    mutating func endTrickPlay(_ moment: PlaybackMoment, _ sink: inout EffectSink) {
        guard let returning = tracks.trickPlay.returning else { return }
        tracks.trickPlay = .off
        var next = returning.source
        // Another option may have been selected during trick play.
        if let variant = catalog.variant(of: returning.source) {
            if !catalog.selectableVariants.contains(where: { $0.id == variant.id }) {
                if let other = catalog.chooser.nearest(to: variant) { next = source(for: other, moment) }
            } else if !catalog.sources(of: variant).contains(returning.source) {
                next = source(for: variant, moment)
            }
        }
        change(to: next, cause: "normal-playback", moment, &sink)
        if next != returning.source { tracks.main.buffer.markOutdated(from: moment.position) }
        followPin(moment, &sink)
        updateTracks(&sink)
    }

    private mutating func change(
        to source: StreamSource,
        cause: String,
        _ moment: PlaybackMoment,
        _ sink: inout EffectSink
    ) {
        tracks.main.change(to: source)
        tracks.main.isVariantDecided = false
        tracks.main.failures.tried = []
        if let variant = fetchedVariant { beginSwitch(to: variant, cause: cause, moment, &sink) }
        applyRenditions(moment, &sink)
        sink.noteChange()
    }

    // MARK: Tracks

    /// Returns the media type of the segments of a track.
    func mediaType(of kind: TrackKind) -> MediaType {
        switch kind {
        case .audio: .audio
        case .subtitles: .subtitles
        case .main where tracks.trickPlay.isActive: .video
        case .main:
            if fetchedVariant?.isAudioOnly == true {
                .audio
            } else {
                tracks.audio.source == nil || tracks.separateAudioEnd != nil ? .muxed : .video
            }
        }
    }

    /// Determines the tracks that are played, and reports them if they changed.
    mutating func updateTracks(_ sink: inout EffectSink) {
        guard let variant = fetchedVariant, !tracks.trickPlay.isActive else { return }
        trackList.update(for: variant, catalog, hasAudioSource: tracks.audio.source != nil, &sink)
    }

    /// Determines the tracks of a variant from its first loaded segment if the playlist declares no codecs, and reports
    /// them if they changed.
    mutating func findTracks(
        in segment: some Sequence<UInt8>,
        initialization: [UInt8]?,
        of source: StreamSource,
        _ sink: inout EffectSink
    ) {
        guard let variant = catalog.variant(of: source), trackList.areUnknown(of: variant) else { return }
        trackList.setTracks(MediaTrack.tracks(ofSegment: segment, initialization: initialization), of: variant)
        updateTracks(&sink)
    }
}
