import MediaTiming
import PlaybackReporting

extension PlaybackEngine {
    /// What can be said of the item now.
    func makeSnapshot() -> PlaybackSnapshot {
        var snapshot = PlaybackSnapshot()
        snapshot.status = failure != nil ? .failed : isPositioned ? .readyToPlay : .unknown
        snapshot.error = failure
        snapshot.playbackType = playbackType
        let timebase = pipeline.timebase
        snapshot.timebase = end.map { Timebase(mediaTime: $0, time: time.now, rate: 0) } ?? timebase
        snapshot.position = position
        snapshot.desiredRate = machine.desiredRate
        let isEarly = machine.timeControl == .playing && appointment.map { $0 > time.now } ?? false
        snapshot.timeControl = isEarly ? .waiting(.forCoordinatedPlayback) : machine.timeControl
        let state = machine.bufferState
        snapshot.duration = isPositioned && streams[.main].timeline?.duration != nil ? naturalDuration : nil
        snapshot.loadedTimeRanges = loadedRanges
        snapshot.leftOutTimeRanges = leftOutRanges
        snapshot.seekableTimeRange = seekableRange
        snapshot.isPlaybackLikelyToKeepUp = machine.isLikelyToKeepUp
        snapshot.isPlaybackBufferEmpty = state.isEmpty
        snapshot.isPlaybackBufferFull = state.isFull
        snapshot.hasPlayedToEnd = machine.hasEnded
        snapshot.isSeeking = pendingSeek.map { !$0.isStart } ?? false
        snapshot.presentation = presentation
        snapshot.selection = selection
        snapshot.playedVariant = playedVariant
        snapshot.fetchedVariant = fetchedVariant.map { VariantDescription($0) }
        snapshot.tracks = tracks
        snapshot.programDate = isPositioned ? streams[.main].timeline?.date(at: position) : nil
        snapshot.liveEdge = liveEdge
        snapshot.recommendedTimeOffsetFromLive = recommendedOffset
        snapshot.dateRanges = dateRanges
        snapshot.interstitialRanges = interstitialRanges
        snapshot.segmentBorders = segmentBorders
        snapshot.abilities = pipeline.abilities
        snapshot.frameCounts = pipeline.frameCounts
        snapshot.throughput = chooser.throughput
        return snapshot
    }

    /// How long the item is: the longest of what it consists of.
    private var naturalDuration: MediaTime? { requiredStreams.compactMap { wholeTimeline(of: $0)?.duration }.max() }
}
