import CFFmpeg
import MediaTiming

// Safe: written only before it is handed out; read from then on.
/// What a decoder has to know of a track before its packets.
@safe final class CodecParameters: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<AVCodecParameters>

    init() throws(DecodingError) {
        guard let pointer = unsafe avcodec_parameters_alloc() else { throw .outOfMemory }
        unsafe self.pointer = unsafe pointer
    }

    /// The maximum length of the configuration of a track, in bytes: headers of Vorbis and FLAC may hold a cover.
    static let longestExtraData = 4 << 20

    convenience init(copying other: UnsafePointer<AVCodecParameters>) throws(DecodingError) {
        guard unsafe Int(other.pointee.extradata_size) <= Self.longestExtraData else {
            throw DecodingError(
                .notReadable,
                "the configuration of a track has more than \(Self.longestExtraData >> 20) MiB"
            )
        }
        try self.init()
        let status = unsafe avcodec_parameters_copy(pointer, other)
        guard status >= 0 else { throw DecodingError(status, "copying a track's parameters") }
    }

    deinit {
        var pointer: UnsafeMutablePointer<AVCodecParameters>? = unsafe pointer
        unsafe avcodec_parameters_free(&pointer)
    }

    var codec: AVCodecID { unsafe pointer.pointee.codec_id }

    var codecName: String { unsafe String(cString: avcodec_get_name(codec)) }

    /// The codec's own header, where the container keeps it apart from the samples.
    var extraData: [UInt8] {
        guard let data = unsafe pointer.pointee.extradata, unsafe pointer.pointee.extradata_size > 0 else { return [] }
        return unsafe Array(UnsafeBufferPointer(start: data, count: Int(pointer.pointee.extradata_size)))
    }
}
