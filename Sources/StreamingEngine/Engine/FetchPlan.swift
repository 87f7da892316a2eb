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
    func source(for variant: Presentation.Variant, _ moment: PlaybackMoment) -> StreamSource {
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

    /// Begins a switch to a variant, and reports it.
    mutating func beginSwitch(
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
