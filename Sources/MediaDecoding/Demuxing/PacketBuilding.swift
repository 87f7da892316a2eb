import CFFmpeg
import MediaTiming

/// Makes packets of bytes.
enum PacketBuilding {
    /// Makes a packet with a copy of bytes, padded as decoders want it; it belongs to the caller.
    static func packet(_ bytes: UnsafeRawBufferPointer) throws(DecodingError) -> UnsafeMutablePointer<AVPacket> {
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

    /// Makes a packet with a copy of bytes; it belongs to the caller.
    static func packet(_ bytes: Span<UInt8>) throws(DecodingError) -> UnsafeMutablePointer<AVPacket> {
        try unsafe bytes.withUnsafeBytes { raw throws(DecodingError) in try unsafe Self.packet(raw) }
    }

    /// Makes a packet with a copy of bytes; it belongs to the caller.
    static func packet(_ bytes: [UInt8]) throws(DecodingError) -> UnsafeMutablePointer<AVPacket> {
        try unsafe bytes.withUnsafeBytes { raw in
            unsafe Result { () throws(DecodingError) in try unsafe Self.packet(raw) }
        }.get()
    }

    /// Puts other bytes into a packet and keeps its times.
    static func packet(
        _ bytes: [UInt8],
        like other: UnsafeMutablePointer<AVPacket>
    ) throws(DecodingError) -> UnsafeMutablePointer<AVPacket> {
        let copy = try unsafe packet(bytes)
        unsafe av_packet_copy_props(copy, other)
        return unsafe copy
    }

    /// Says that the decoder drops so many samples at the start of what it makes of a packet.
    static func skip(_ samples: UInt32, atStartOf packet: UnsafeMutablePointer<AVPacket>) {
        guard let data = unsafe av_packet_new_side_data(packet, AV_PKT_DATA_SKIP_SAMPLES, 10) else { return }
        for index in 0..<10 { unsafe data[index] = 0 }
        for index in 0..<4 { unsafe data[index] = UInt8(truncatingIfNeeded: samples >> UInt32(clamping: index * 8)) }
    }

    /// Sound in front of where the edit list begins is decoded, and not heard: it is what the encoder needed to start.
    static func trimBeforeZero(_ packet: UnsafeMutablePointer<AVPacket>, _ format: TrackFormat) {
        let (time, duration) = unsafe (packet.pointee.pts, packet.pointee.duration)
        guard time < 0, duration > 0, format.sampleRate > 0, time != .min else { return }
        if time <= duration.negatedSaturated() {
            unsafe packet.pointee.flags |= AV_PKT_FLAG_DISCARD
        } else {
            let samples = MediaTime(time.negatedSaturated(), in: format.timeBase)
                .units(in: AVRational(num: 1, den: Int32(clamping: format.sampleRate)))
            unsafe skip(UInt32(clamping: samples), atStartOf: packet)
        }
    }
}
