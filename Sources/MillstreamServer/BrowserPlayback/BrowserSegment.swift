import HTTPTypes
import MediaTiming
import NIOCore
import SegmentFormat
import StreamingEngine

/// A segment in the form that Media Source Extensions take: an initialization section with movie fragments.
struct BrowserSegment {
    let bytes: ByteBuffer
    /// The media type with the codecs, as `MediaSource.addSourceBuffer` takes it.
    let contentType: String
    /// The earliest timestamp of the video, or of the audio if there is no video.
    let firstTimestamp: MediaTime

    /// Creates the form of a segment for browsers, which is converted unless it already has this form.
    ///
    /// - Throws: ``ServerError`` if the segment is a gap or cannot be converted; `CancellationError`.
    init(_ segment: PipelineSegment, _ repackager: (any SegmentRepackager)?) throws {
        guard case .media(let media, let initialization) = segment.content else {
            throw ServerError(.notFound, "gap", "the segment is a gap, which has no media")
        }
        var whole = ByteBuffer(bytes: initialization?.bytes ?? [])
        whole.writeImmutableBuffer(media)
        if segment.sampleProtection == nil, let known = Self.properties(of: whole) {
            (bytes, contentType, firstTimestamp) = (whole, known.contentType, known.firstTimestamp)
            return
        }
        guard let repackager else {
            throw ServerError(
                .notImplemented,
                "not-repackaged",
                "this server was built without FFmpeg, which converts the segment for this browser",
                hint: "use a browser that plays HLS, or a stream with fragmented MP4 segments"
            )
        }
        let converted: [UInt8]
        do {
            converted = try repackager.movieFragment(of: segment)
        } catch {
            throw ServerError(
                .badGateway,
                "not-repackaged",
                "the segment cannot be converted for this browser: \(error)"
            )
        }
        whole = ByteBuffer(bytes: converted)
        guard let known = Self.properties(of: whole) else {
            throw ServerError(.badGateway, "not-repackaged", "the segment has no video and no audio with timestamps")
        }
        (bytes, contentType, firstTimestamp) = (whole, known.contentType, known.firstTimestamp)
    }

    /// Returns the properties of movie fragments with their initialization section; `nil` for anything else.
    private static func properties(of bytes: ByteBuffer) -> (contentType: String, firstTimestamp: MediaTime)? {
        let all = Array(bytes.readableBytesView)
        guard MediaContainer(all.span) == .isoBaseMedia else { return nil }
        let segment = FragmentedSegment(all.span)
        guard let movie = segment.movie else { return nil }
        let tracks = movie.tracks.map(\.mediaTrack).filter { $0.mediaType == .video || $0.mediaType == .audio }
        let timed = tracks.filter { segment.timeRange(of: $0.id) != nil }
        guard let main = timed.first(where: { $0.mediaType == .video }) ?? timed.first,
            let start = segment.timeRange(of: main.id)?.start
        else { return nil }
        let codecs = tracks.compactMap(\.codec).joined(separator: ",")
        let type = tracks.contains { $0.mediaType == .video } ? "video/mp4" : "audio/mp4"
        return ("\(type); codecs=\"\(codecs)\"", start)
    }
}
