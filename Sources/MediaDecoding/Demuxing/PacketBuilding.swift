import CFFmpeg
import MediaTiming

/// Makes packets of bytes.
enum PacketBuilding {
    /// Makes a packet with a copy of bytes, padded as decoders want it; it belongs to the caller.
    static func packet(_ bytes: UnsafeRawBufferPointer) throws(DecodingError) -> UnsafeMutablePointer<AVPacket> {
        var packet = av_packet_alloc()
        guard let made = packet, bytes.count <= Int(Int32.max) - 4_096,
            av_new_packet(made, Int32(clamping: bytes.count)) >= 0
        else {
            av_packet_free(&packet)
            throw .outOfMemory
        }
        if let base = bytes.baseAddress, !bytes.isEmpty {
            UnsafeMutableRawPointer(made.pointee.data).copyMemory(from: base, byteCount: bytes.count)
        }
        return made
    }

    /// Makes a packet with a copy of bytes; it belongs to the caller.
    static func packet(_ bytes: [UInt8]) throws(DecodingError) -> UnsafeMutablePointer<AVPacket> {
        try bytes.withUnsafeBytes { raw in
            Result { () throws(DecodingError) in try Self.packet(raw) }
        }.get()
    }

    /// Puts other bytes into a packet and keeps its times.
    static func packet(
        _ bytes: [UInt8],
        like other: UnsafeMutablePointer<AVPacket>
    ) throws(DecodingError) -> UnsafeMutablePointer<AVPacket> {
        let copy = try packet(bytes)
        av_packet_copy_props(copy, other)
        return copy
    }

    /// Says that the decoder drops so many samples at the start of what it makes of a packet.
    static func skip(_ samples: UInt32, atStartOf packet: UnsafeMutablePointer<AVPacket>) {
        guard let data = av_packet_new_side_data(packet, AV_PKT_DATA_SKIP_SAMPLES, 10) else { return }
        for index in 0..<10 { data[index] = 0 }
        for index in 0..<4 { data[index] = UInt8(truncatingIfNeeded: samples >> UInt32(clamping: index * 8)) }
    }

    /// Sound in front of where the edit list begins is decoded, and not heard: it is what the encoder needed to start.
    static func trimBeforeZero(_ packet: UnsafeMutablePointer<AVPacket>, _ format: TrackFormat) {
        let (time, duration) = (packet.pointee.pts, packet.pointee.duration)
        guard time < 0, duration > 0, format.sampleRate > 0, time != .min else { return }
        if time <= duration.negatedSaturated() {
            packet.pointee.flags |= AV_PKT_FLAG_DISCARD
        } else {
            let samples = MediaTime(time.negatedSaturated(), in: format.timeBase)
                .units(in: AVRational(num: 1, den: Int32(clamping: format.sampleRate)))
            skip(UInt32(clamping: samples), atStartOf: packet)
        }
    }
}
