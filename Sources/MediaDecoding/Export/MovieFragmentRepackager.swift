import MediaTiming
import SegmentFormat
package import StreamingEngine

/// A repackager of segments that demuxes them, decrypts their samples and writes these as movie fragments.
package struct MovieFragmentRepackager: SegmentRepackager {
    /// Creates a repackager.
    package init() {}

    /// Converts a segment.
    ///
    /// - Throws: ``DecodingError``.
    package func movieFragment(of segment: PipelineSegment) throws -> [UInt8] {
        var demuxers = DemuxerPool()
        guard let media = try DecodableSegment(segment, .all, &demuxers) else {
            throw DecodingError(status: .notReadable, operation: "the segment is a gap")
        }
        let writer = try MediaFileWriter()
        let samples = [media.video, media.audio].compactMap { $0 }
        let tracks = try samples.map { samples in
            (samples, try TrackWriter(TrackConversion(samples, mayChange: false), .init(), to: writer))
        }
        guard !tracks.isEmpty else {
            throw DecodingError(status: .notReadable, operation: "the segment has no video and no audio")
        }
        try writer.begin()
        for (samples, track) in tracks { try track.write(samples, offset: .zero) }
        return try writer.finishedFragments()
    }
}
