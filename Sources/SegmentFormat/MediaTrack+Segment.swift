import MediaTiming

extension MediaTrack {
    /// The number of bytes of a segment in which its tracks are searched; a program map table or the first frame of
    /// packed audio is near the start.
    private static let maximumSegmentHeadSize = 256 << 10

    /// Returns the tracks of a media segment, as its initialization section or its first bytes describe them.
    ///
    /// - Parameters:
    ///   - segment: The bytes of the segment, or its first 64 KiB; used if there is no initialization section.
    ///   - initialization: The media initialization section; `nil` if the segment has none.
    /// - Returns: The tracks in the order of the container; empty if the container format is unknown, or if the bytes
    ///   do not describe them, as in an encrypted segment.
    package static func tracks(ofSegment segment: some Sequence<UInt8>, initialization: [UInt8]?) -> [MediaTrack] {
        let head = initialization ?? Array(segment.prefix(maximumSegmentHeadSize))
        let options = MediaFileIndexer.Options(maximumRequestCount: 0)
        guard let index = MediaFileIndexer(head: head, length: Int64(head.count), options: options),
            case .ready(let timeline) = index.state
        else { return [] }
        return timeline.tracks
    }
}
