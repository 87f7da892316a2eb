import CFFmpeg

/// An FFmpeg bitstream filter, which changes the form of packets without decoding them.
@safe final class BitstreamFilter {
    private var context: UnsafeMutablePointer<AVBSFContext>
    private let name: String

    /// Creates a filter for the packets of a track.
    init(_ name: String, parameters: CodecParameters, timeBase: AVRational) throws(DecodingError) {
        self.name = name
        guard let filter = unsafe av_bsf_get_by_name(name) else {
            throw DecodingError(status: .unsupported, operation: "FFmpeg has no bitstream filter \(name)")
        }
        var created: UnsafeMutablePointer<AVBSFContext>?
        guard unsafe av_bsf_alloc(filter, &created) >= 0, let created = unsafe created else { throw .outOfMemory }
        unsafe context = unsafe created
        unsafe created.pointee.time_base_in = timeBase
        var status = unsafe avcodec_parameters_copy(created.pointee.par_in, parameters.pointer)
        if status >= 0 { status = unsafe av_bsf_init(created) }
        guard status >= 0 else { throw DecodingError(status: status, operation: "opening the filter \(name)") }
    }

    /// Returns a Boolean value that indicates whether FFmpeg has a filter and the filter accepts packets of a codec.
    static func accepts(_ codec: AVCodecID, filter name: String) -> Bool {
        guard let filter = unsafe av_bsf_get_by_name(name) else { return false }
        guard var accepted = unsafe filter.pointee.codec_ids else { return true }
        // The list ends with an entry that stands for no codec.
        while unsafe accepted.pointee != AV_CODEC_ID_NONE {
            if unsafe accepted.pointee == codec { return true }
            unsafe accepted += 1
        }
        return false
    }

    deinit {
        var context: UnsafeMutablePointer<AVBSFContext>? = unsafe context
        unsafe av_bsf_free(&context)
    }

    /// The codec parameters of the filtered packets.
    var parameters: UnsafePointer<AVCodecParameters>? { unsafe UnsafePointer(context.pointee.par_out) }

    /// Filters a packet.
    ///
    /// - Parameter packet: The packet, which is not modified.
    /// - Returns: The filtered packet, which the caller owns; `nil` if there is none.
    /// - Throws: `DecodingError` if the packet is damaged.
    func filter(_ packet: UnsafeMutablePointer<AVPacket>) throws(DecodingError) -> UnsafeMutablePointer<AVPacket>? {
        var copy = unsafe av_packet_clone(packet)
        guard let given = unsafe copy else { throw .outOfMemory }
        var status = unsafe av_bsf_send_packet(context, given)
        if status >= 0 {
            status = unsafe av_bsf_receive_packet(context, given)
            if status >= 0 { return unsafe given }
        }
        unsafe av_packet_free(&copy)
        guard status == cffmpeg_error_again() || status == cffmpeg_error_end() else {
            throw DecodingError(status: status, operation: "the filter \(name)")
        }
        return nil
    }

    /// Returns the codec configuration that a filtered packet carries; `nil` if there is none.
    static func extraData(of packet: UnsafeMutablePointer<AVPacket>) -> [UInt8]? {
        var size = 0
        guard let data = unsafe av_packet_get_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, &size), size > 0,
            size <= CodecParameters.maximumExtraDataSize
        else { return nil }
        return unsafe Array(UnsafeBufferPointer(start: data, count: size))
    }
}
