import CFFmpeg
import MediaTiming
import SegmentFormat

/// A reader for a container that FFmpeg demuxes.
///
/// It does not search the media for stream parameters that the header lacks, because this would read ahead by seconds
/// of media. Decoders determine them from the packets.
@safe final class ContainerReader {
    private(set) var context: UnsafeMutablePointer<AVFormatContext>
    private let input: MediaInput

    /// Creates a reader and opens the container.
    ///
    /// - Parameters:
    ///   - input: The bytes of the container.
    ///   - format: The container format.
    ///   - isHeader: A Boolean value that indicates whether only the configuration of the tracks is read, without
    ///     applying edit lists.
    /// - Throws: ``DecodingError`` if FFmpeg does not support the format or cannot open the container.
    init(_ input: MediaInput, format: MediaContainer, isHeader: Bool = false) throws(DecodingError) {
        _ = FFmpegLibrary.isLoggingDisabled
        self.input = input
        guard let name = Self.formatName(format), let demuxer = unsafe av_find_input_format(name) else {
            throw DecodingError(status: .unsupported, operation: "FFmpeg has no demuxer for \(format.rawValue)")
        }
        guard let created = unsafe avformat_alloc_context() else { throw .outOfMemory }
        unsafe created.pointee.pb = unsafe input.context
        unsafe created.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
        // Timestamp wraparound is resolved by the caller, which knows the time of the previous segment.
        unsafe created.pointee.correct_ts_overflow = 0
        unsafe created.pointee.max_streams = Int32(clamping: SegmentDemuxer.maximumTrackCount)
        var opened: UnsafeMutablePointer<AVFormatContext>? = unsafe created
        var options: OpaquePointer?
        // Applying an edit list would add the samples of each edit to the index again.
        if isHeader { unsafe av_dict_set(&options, "advanced_editlist", "0", 0) }
        // FFmpeg frees the context on failure.
        let status = unsafe avformat_open_input(&opened, "", demuxer, &options)
        unsafe av_dict_free(&options)
        guard status >= 0, let opened = unsafe opened else {
            throw DecodingError(status: status, operation: "opening \(format.rawValue)")
        }
        unsafe context = unsafe opened
    }

    deinit {
        var context: UnsafeMutablePointer<AVFormatContext>? = unsafe context
        unsafe avformat_close_input(&context)
        withExtendedLifetime(input) {}
    }

    var streams: [UnsafeMutablePointer<AVStream>] {
        let count = unsafe min(Int(context.pointee.nb_streams), SegmentDemuxer.maximumTrackCount)
        guard let list = unsafe context.pointee.streams else { return unsafe [] }
        return unsafe (0..<count).compactMap { unsafe list[$0] }
    }

    /// The number of bytes of the input; `nil` if it is unknown.
    var inputLength: Int64? { input.length }

    @safe enum ReadResult {
        case packet(UnsafeMutablePointer<AVPacket>)
        case end
        case failed(Int32)
    }

    /// Reads the next packet; the caller takes ownership of it.
    func readPacket() throws(DecodingError) -> ReadResult {
        guard let packet = unsafe av_packet_alloc() else { throw .outOfMemory }
        let status = unsafe av_read_frame(context, packet)
        if status >= 0 { return unsafe .packet(packet) }
        var unused: UnsafeMutablePointer<AVPacket>? = unsafe packet
        unsafe av_packet_free(&unused)
        return status == cffmpeg_error_end() ? .end : .failed(status)
    }

    static func language(_ stream: UnsafeMutablePointer<AVStream>) -> String? {
        guard let entry = unsafe av_dict_get(stream.pointee.metadata, "language", nil, 0),
            let value = unsafe entry.pointee.value
        else { return nil }
        let text = unsafe String(cString: value)
        return text == "und" || text.isEmpty ? nil : text
    }

    /// Returns a Boolean value that indicates whether a stream is an image that is attached to the file, such as cover
    /// art.
    ///
    /// FFmpeg makes a video stream of one packet from it, but the file has no such track.
    static func isAttachedImage(_ stream: UnsafeMutablePointer<AVStream>) -> Bool {
        unsafe stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC != 0
    }

    /// Returns the orientation of the display matrix of a stream.
    ///
    /// FFmpeg makes it from the headers of the track and of the movie, or from the projection of a Matroska file.
    static func orientation(_ stream: UnsafeMutablePointer<AVStream>) -> VideoOrientation {
        guard let matrix = unsafe cffmpeg_display_matrix(stream) else { return .upright }
        return unsafe VideoOrientation(a: matrix[0], b: matrix[1], c: matrix[3], d: matrix[4])
    }

    private static func formatName(_ container: MediaContainer) -> String? {
        switch container {
        case .isoBaseMedia: "mov"
        case .transportStream: "mpegts"
        case .aac: "aac"
        case .mpegAudio: "mp3"
        case .ac3: "ac3"
        case .enhancedAC3: "eac3"
        case .flac: "flac"
        case .ogg: "ogg"
        case .wave: "wav"
        case .matroska, .webM: "matroska"
        case .id3, .webVTT, .ttml, .hlsPlaylist, .mediaPresentation, .html: nil
        }
    }
}
