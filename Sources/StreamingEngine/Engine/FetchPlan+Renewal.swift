import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting

// The renewal of addresses that expired, and changes of the pathway: other addresses of the same media.
extension FetchPlan {
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
    /// Buffered media and transfers in progress are kept. If the renewal failed, the resources that failed are requested again,
    /// and the usual recovery follows.
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
    mutating func moveRenditions(_ moment: PlaybackMoment, _ sink: inout EffectSink) {
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
}
