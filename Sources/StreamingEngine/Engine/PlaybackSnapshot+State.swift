import MediaTiming
import PlaybackReporting

extension PlaybackSnapshot {
    /// Creates a snapshot of the state of an engine.
    init(_ state: EngineState) {
        self.init()
        let control = state.control
        let playhead = control.playhead
        let plan = control.plan
        let moment = control.moment
        status = state.failure != nil ? .failed : playhead.isPositioned ? .readyToPlay : .unknown
        error = state.failure
        playbackType = state.playlists.playbackType
        timebase = playhead.end.map { Timebase(mediaTime: $0, time: moment.now, rate: 0) } ?? playhead.timebase
        position = moment.position
        let machine = playhead.machine
        desiredRate = machine.desiredRate
        let isEarly =
            machine.timeControl == .playing && playhead.rate.start.announcedTime.map { $0 > moment.now } ?? false
        timeControl = isEarly ? .waiting(.forCoordinatedPlayback) : machine.timeControl
        if playhead.isPositioned, plan.tracks.main.timeline?.duration != nil {
            // The duration of the item is that of its longest track.
            duration = plan.tracks.required.compactMap { plan.tracks.fullTimeline(of: $0)?.duration }.max()
        }
        loadedTimeRanges = plan.tracks.loadedRanges(moment)
        leftOutTimeRanges = plan.tracks.leftOutRanges
        seekableTimeRange = control.live.seekableRange
        isPlaybackLikelyToKeepUp = machine.isLikelyToKeepUp
        isPlaybackBufferEmpty = machine.bufferState.isEmpty
        isPlaybackBufferFull = machine.bufferState.isFull
        hasPlayedToEnd = machine.hasEnded
        isSeeking = control.seek.pending.map { !$0.isStart } ?? false
        presentation = plan.catalog.presentation
        selection = plan.catalog.selection
        playedVariant = plan.playedVariant
        fetchedVariant = plan.fetchedVariant.map { VariantDescription($0) }
        tracks = plan.trackList.tracks
        metadata = state.fileMetadata
        programDate = playhead.isPositioned ? plan.tracks.main.timeline?.date(at: moment.position) : nil
        liveEdge = LiveState.edge(of: plan.tracks.main.playlist)
        recommendedTimeOffsetFromLive = control.live.recommendedOffset
        dateRanges = state.playlists.contents.dateRanges
        interstitialRanges = state.playlists.contents.interstitialRanges
        segmentBorders = state.playlists.contents.segmentBoundaries
        abilities = playhead.observation.abilities
        frameCounts = playhead.observation.frameCounts
        videoSize = playhead.observation.videoSize
        bufferedBitRate = plan.tracks.averageBitRate
        throughput = plan.catalog.chooser.throughput
        if case .waiting = machine.timeControl { wait = plan.tracks.wait(moment) }
    }
}
