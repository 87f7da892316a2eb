import CFFmpeg
import MediaTiming

/// Functions that create and modify FFmpeg packets.
enum PacketBuilder {
    /// Creates a packet with a copy of the bytes, with the padding that decoders require; the caller takes ownership of
    /// it.
    static func makePacket(_ bytes: UnsafeRawBufferPointer) throws(DecodingError) -> UnsafeMutablePointer<AVPacket> {
        var packet = unsafe av_packet_alloc()
        guard let made = unsafe packet, bytes.count <= Int(Int32.max) - 4_096,
            unsafe av_new_packet(made, Int32(clamping: bytes.count)) >= 0
        else {
            unsafe av_packet_free(&packet)
            throw .outOfMemory
        }
        if let base = bytes.baseAddress, unsafe !bytes.isEmpty {
            unsafe UnsafeMutableRawPointer(made.pointee.data).copyMemory(from: base, byteCount: bytes.count)
        }
        return unsafe made
    }

    /// Creates a packet with a copy of the bytes; the caller takes ownership of it.
    static func makePacket(_ bytes: Span<UInt8>) throws(DecodingError) -> UnsafeMutablePointer<AVPacket> {
        try unsafe bytes.withUnsafeBytes { raw throws(DecodingError) in try unsafe Self.makePacket(raw) }
    }

    /// Creates a packet with a copy of the bytes; the caller takes ownership of it.
    static func makePacket(_ bytes: [UInt8]) throws(DecodingError) -> UnsafeMutablePointer<AVPacket> {
        try unsafe bytes.withUnsafeBytes { raw in
            unsafe Result { () throws(DecodingError) in try unsafe Self.makePacket(raw) }
        }.get()
    }

    /// Creates a packet with other bytes and the timestamps and flags of an existing packet.
    static func makePacket(
        _ bytes: [UInt8],
        copyingPropertiesOf other: UnsafeMutablePointer<AVPacket>
    ) throws(DecodingError) -> UnsafeMutablePointer<AVPacket> {
        let copy = try unsafe makePacket(bytes)
        unsafe av_packet_copy_props(copy, other)
        return unsafe copy
    }

    /// Marks a packet so that the decoder discards the given numbers of samples at the start and at the end of its output.
    static func setSkippedSampleCount(
        _ samples: UInt32,
        atEnd samplesAtEnd: UInt32 = 0,
        of packet: UnsafeMutablePointer<AVPacket>
    ) {
        guard let data = unsafe av_packet_new_side_data(packet, AV_PKT_DATA_SKIP_SAMPLES, 10) else { return }
        for index in 0..<10 { unsafe data[index] = 0 }
        for index in 0..<4 {
            let shift = UInt32(clamping: index * 8)
            unsafe data[index] = UInt8(truncatingIfNeeded: samples >> shift)
            unsafe data[index + 4] = UInt8(truncatingIfNeeded: samplesAtEnd >> shift)
        }
    }

    /// Excludes audio before the start of the edit list from playback.
    ///
    /// It is still decoded, because the decoder needs this encoder delay.
    static func trimBeforeZero(_ packet: UnsafeMutablePointer<AVPacket>, format: TrackFormat) {
        let (time, duration) = unsafe (packet.pointee.pts, packet.pointee.duration)
        guard time < 0, duration > 0, format.sampleRate > 0, time != .min else { return }
        if time <= duration.negatedSaturated() {
            unsafe packet.pointee.flags |= AV_PKT_FLAG_DISCARD
        } else {
            let samples = MediaTime(time.negatedSaturated(), in: format.timeBase)
                .units(in: AVRational(num: 1, den: Int32(clamping: format.sampleRate)))
            unsafe setSkippedSampleCount(UInt32(clamping: samples), of: packet)
        }
    }
}
