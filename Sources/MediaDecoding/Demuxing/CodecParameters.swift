import CFFmpeg
import MediaTiming

// Safe: the value is written only before other threads can access it, and is only read afterwards.
/// The codec parameters of a track, which its decoder needs before the first packet.
@safe final class CodecParameters: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<AVCodecParameters>

    init() throws(DecodingError) {
        guard let pointer = unsafe avcodec_parameters_alloc() else { throw .outOfMemory }
        unsafe self.pointer = unsafe pointer
    }

    /// The maximum length of the codec configuration of a track, in bytes.
    ///
    /// The limit is generous because the headers of Vorbis and FLAC may contain cover art.
    static let maximumExtraDataSize = 4 << 20

    convenience init(copying other: UnsafePointer<AVCodecParameters>) throws(DecodingError) {
        guard unsafe Int(other.pointee.extradata_size) <= Self.maximumExtraDataSize else {
            throw DecodingError(
                status: .notReadable,
                operation: "the codec configuration of a track exceeds \(Self.maximumExtraDataSize >> 20) MiB"
            )
        }
        try self.init()
        let status = unsafe avcodec_parameters_copy(pointer, other)
        guard status >= 0 else { throw DecodingError(status: status, operation: "copying a track's parameters") }
    }

    deinit {
        var pointer: UnsafeMutablePointer<AVCodecParameters>? = unsafe pointer
        unsafe avcodec_parameters_free(&pointer)
    }

    var codec: AVCodecID { unsafe pointer.pointee.codec_id }

    var codecName: String { unsafe String(cString: avcodec_get_name(codec)) }

    /// The codec configuration that the container stores outside of the samples; empty if there is none.
    var extraData: [UInt8] {
        guard let data = unsafe pointer.pointee.extradata, unsafe pointer.pointee.extradata_size > 0 else { return [] }
        return unsafe Array(UnsafeBufferPointer(start: data, count: Int(pointer.pointee.extradata_size)))
    }
}
