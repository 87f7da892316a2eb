package import HLSPlaylist
package import MediaTiming

/// A track of a simulated live channel with the segments that it lists.
package struct ChannelTrack: Sendable {
    /// The entry of the multivariant playlist that describes the track.
    package enum Entry: Sendable {
        /// A variant, whose media can be video, audio or both.
        case variant(Variant)
        /// A rendition with audio.
        case rendition(Rendition)
    }

    /// A listed segment.
    package struct Segment: Sendable, Hashable {
        /// The URL, absolute or relative to the URL of the manifest.
        package var address: String
        /// The byte range of the segment in its resource; `nil` for the entire resource.
        package var byteRange: ByteRange?
        /// The time from the start of the period to that of the segment, according to the durations in the playlist.
        package var time: MediaTime
        /// The duration.
        package var duration: MediaTime

        /// Creates a segment.
        ///
        /// - Parameters:
        ///   - address: The URL.
        ///   - byteRange: The byte range of the segment in its resource; `nil` for the entire resource.
        ///   - time: The time from the start of the period to that of the segment.
        ///   - duration: The duration.
        package init(address: String, byteRange: ByteRange?, time: MediaTime, duration: MediaTime) {
            self.address = address
            self.byteRange = byteRange
            self.time = time
            self.duration = duration
        }
    }

    /// The listed segments between two discontinuities.
    package struct Run: Sendable {
        /// The number of the period, which is the same for all tracks and at all times.
        package var number: Int64
        /// The time from the start of the channel to that of the period.
        package var start: MediaTime
        /// The properties of the media; their start is that of the first segment of the period, listed or not.
        package var media: TrackMedia
        /// The number of the first listed segment in its period, from 1.
        package var startNumber: Int64
        /// The URL of the media initialization section.
        package var initialization: String
        /// The byte range of the media initialization section; `nil` for the entire resource.
        package var initializationRange: ByteRange?
        /// The segments in order.
        package var segments: [Segment]

        /// Creates a run.
        ///
        /// - Parameters:
        ///   - number: The number of the period.
        ///   - start: The time from the start of the channel to that of the period.
        ///   - media: The properties of the media.
        ///   - startNumber: The number of the first listed segment in its period, from 1.
        ///   - initialization: The URL of the media initialization section.
        ///   - initializationRange: The byte range of the media initialization section; `nil` for the entire resource.
        ///   - segments: The segments.
        package init(
            number: Int64,
            start: MediaTime,
            media: TrackMedia,
            startNumber: Int64,
            initialization: String,
            initializationRange: ByteRange?,
            segments: [Segment]
        ) {
            self.number = number
            self.start = start
            self.media = media
            self.startNumber = startNumber
            self.initialization = initialization
            self.initializationRange = initializationRange
            self.segments = segments
        }
    }

    /// The identifier of the track, the same at all times, without white space.
    package var id: String
    /// The entry of the multivariant playlist.
    package var entry: Entry
    /// The listed segments by period, in order.
    package var runs: [Run]
    /// The audio codec of a rendition according to its variants, such as `ac-3`; empty if it is unknown.
    ///
    /// Players do not switch between tracks with different codecs.
    package var audioCodec: String

    /// Creates a track.
    ///
    /// - Parameters:
    ///   - id: The identifier of the track, the same at all times, without white space.
    ///   - entry: The entry of the multivariant playlist.
    ///   - runs: The listed segments by period.
    ///   - audioCodec: The audio codec of a rendition according to its variants; empty if it is unknown.
    package init(id: String, entry: Entry, runs: [Run], audioCodec: String = "") {
        self.id = id
        self.entry = entry
        self.runs = runs
        self.audioCodec = audioCodec
    }

    /// Returns the segments of a period; `nil` if the track lists none.
    ///
    /// - Complexity: O(log *n*) in the number of periods.
    func run(_ number: Int64) -> Run? {
        let index = runs.partitioningIndex { $0.number >= number }
        guard index < runs.count, runs[index].number == number, !runs[index].segments.isEmpty else { return nil }
        return runs[index]
    }

    /// A Boolean value that indicates whether the track has video.
    var hasVideo: Bool {
        switch entry {
        case .rendition: return false
        case .variant(let variant):
            let codecs = CodecList(variant.codecs)
            guard variant.resolution == nil, codecs.video.isEmpty else { return true }
            return codecs.audio.isEmpty && runs.contains { $0.media.hasVideo }
        }
    }
}
