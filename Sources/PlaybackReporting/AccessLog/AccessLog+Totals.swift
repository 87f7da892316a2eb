public import MediaTiming

extension AccessLog {
    /// The sums over all events of an access log.
    public struct Totals: Sendable, Hashable {
        /// The media time that was played: the sum of the positive values of ``AccessLog/Event/durationWatched``.
        public var durationWatched = Duration.zero
        /// The media duration of the segments received over the network.
        public var segmentsDownloadedDuration = Duration.zero
        /// The time in which response bodies were being received.
        public var transferDuration = Duration.zero
        /// The number of bytes received over the network.
        public var numberOfBytesTransferred = ByteCount.zero
        /// The number of media segments received over the network.
        public var numberOfMediaRequests = 0
        /// The number of stalls.
        public var numberOfStalls = 0
        /// The number of segments that took longer to load than their duration.
        public var downloadOverdue = 0
        /// The number of changes of the server address.
        public var numberOfServerAddressChanges = 0
        /// The number of video frames dropped because they were late; `nil` if nothing was decoded.
        public var numberOfDroppedVideoFrames: Int?
        /// The average of ``AccessLog/Event/indicatedBitrate``, weighted by the time played.
        ///
        /// Only time with a known bit rate counts; `nil` if there is none.
        public var timeWeightedIndicatedBitrate: BitRate?
        /// The average over all time played, in which time with an unknown bit rate counts as 0 bit/s.
        ///
        /// The sample code of AVFoundation uses this definition. The result is too low if an event has no bit rate.
        public var timeWeightedIndicatedBitrateIncludingUnknown: BitRate?

        /// Creates totals that are all zero or `nil`.
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
        totals.timeWeightedIndicatedBitrateIncludingUnknown = average.value(over: totals.durationWatched)
        return totals
    }
}
