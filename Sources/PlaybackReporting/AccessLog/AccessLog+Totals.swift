public import MediaTiming

extension AccessLog {
    /// The sums over all events.
    public struct Totals: Sendable, Hashable {
        /// The media time that was played: the sum of ``AccessLog/Event/durationWatched`` where it is above 0.
        public var durationWatched = Duration.zero
        /// The media time of the segments that came over the network.
        public var segmentsDownloadedDuration = Duration.zero
        /// The time during which bytes came.
        public var transferDuration = Duration.zero
        /// The bytes that came over the network.
        public var numberOfBytesTransferred = ByteCount.zero
        /// The media segments that came over the network.
        public var numberOfMediaRequests = 0
        /// The stalls.
        public var numberOfStalls = 0
        /// The segments that took longer to load than they play.
        public var downloadOverdue = 0
        /// The changes of server.
        public var numberOfServerAddressChanges = 0
        /// The frames that came too late; `nil` where nothing was decoded.
        public var numberOfDroppedVideoFrames: Int?
        /// The average of ``AccessLog/Event/indicatedBitrate``, each weighing as much as the time for which it was played.
        ///
        /// Over the time for which a rate is known; `nil` without any.
        public var timeWeightedIndicatedBitrate: BitRate?
        /// The same over all that was played, so that time of which no rate is known counts as 0 bit/s.
        ///
        /// The sample code of AVFoundation reckons so; its figure is too low where an event names no rate.
        public var timeWeightedIndicatedBitrateOfAll: BitRate?

        /// Makes sums of nothing.
        public init() {}
    }

    /// The sums over all events.
    ///
    /// - Complexity: O(*n*) in the number of events.
    public var totals: Totals {
        var totals = Totals()
        var average = TimeWeightedBitRate()
        for event in events {
            let watched = max(.zero, event.durationWatched ?? .zero)
            totals.durationWatched = totals.durationWatched.addingClamped(watched)
            average.add(event.indicatedBitrate, for: watched)
            totals.segmentsDownloadedDuration = totals.segmentsDownloadedDuration
                .addingClamped(max(.zero, event.segmentsDownloadedDuration ?? .zero))
            totals.transferDuration = totals.transferDuration
                .addingClamped(max(.zero, event.transferDuration ?? .zero))
            totals.numberOfBytesTransferred += event.numberOfBytesTransferred ?? .zero
            totals.numberOfMediaRequests = totals.numberOfMediaRequests.addingClamped(event.numberOfMediaRequests ?? 0)
            totals.numberOfStalls = totals.numberOfStalls.addingClamped(event.numberOfStalls ?? 0)
            totals.downloadOverdue = totals.downloadOverdue.addingClamped(event.downloadOverdue ?? 0)
            totals.numberOfServerAddressChanges = totals.numberOfServerAddressChanges
                .addingClamped(event.numberOfServerAddressChanges ?? 0)
            if let dropped = event.numberOfDroppedVideoFrames {
                totals.numberOfDroppedVideoFrames = (totals.numberOfDroppedVideoFrames ?? 0).addingClamped(dropped)
            }
        }
        totals.timeWeightedIndicatedBitrate = average.value
        totals.timeWeightedIndicatedBitrateOfAll = average.value(over: totals.durationWatched)
        return totals
    }
}
