import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting

// Other sources after failures.
extension FetchPlan {
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
        var circumstances = RecoveryPolicy.Circumstances(kind, timeout: moment.limits.patience)
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
}
