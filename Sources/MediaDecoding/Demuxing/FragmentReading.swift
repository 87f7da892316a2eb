import CFFmpeg
import MediaTiming
import PlaybackReporting
import SegmentFormat

/// Takes fragments of a movie apart: `moof` and `mdat` (ISO/IEC 14496-12 §8.8).
///
/// FFmpeg's own reading prefers the presentation times of `sidx` to the decode times of `tfdt`, needs the header again for
/// each segment, and does not open all schemes of encryption.
struct FragmentReading {
    let initialization: MovieInitialization
    let bytes: UnsafeRawBufferPointer
    let key: SampleKey?
    /// Where a track goes on whose fragments do not say when they begin, in its units.
    var nextTimes: [UInt32: Int64]

    private var result = DemuxedSegment()
    private var decryptions: [UInt32: CommonDecryption] = [:]
    private var segmentStart: MediaTime?
    /// Samples do not overlap: together they are no larger than the segment.
    private var unusedBytes: Int
    /// The bytes that may still be read as lists of how samples are encrypted: fragments may name the same ones.
    private var unusedListBytes: Int
    private var messages: [EventMessage] = []

    init(
        _ initialization: MovieInitialization,
        _ bytes: UnsafeRawBufferPointer,
        key: SampleKey?,
        nextTimes: [UInt32: Int64]
    ) {
        self.initialization = initialization
        self.bytes = bytes
        self.key = key
        self.nextTimes = nextTimes
        unusedBytes = bytes.count
        unusedListBytes = bytes.count
    }

    /// What `tfhd` says, or the header before it.
    private struct Defaults {
        var duration: UInt32
        var size: UInt32
        var flags: UInt32
    }

    mutating func read() throws(DecodingError) -> DemuxedSegment {
        result.container = .isoBaseMedia
        result.tracks = initialization.order.compactMap { initialization.tracks[$0]?.format }
        for (id, track) in initialization.tracks {
            guard let protection = track.protection, let key else { continue }
            decryptions[id] = try CommonDecryption(protection, key: key)
        }
        let boxes = BoxPlace.all(bytes, in: 0..<bytes.count)
        var hasFragment = false
        for box in boxes {
            if box.isCut { result.note("the segment ends inside of a box") }
            if box.type == .box("moof") {
                hasFragment = true
                try fragment(box)
            } else if box.type == .box("emsg") {
                message(box)
            }
        }
        if !hasFragment { result.note("the segment has no fragment") }
        if let last = boxes.last?.payload.upperBound ?? Optional(0), last < bytes.count {
            result.note("\(bytes.count - last) bytes are no box")
        }
        giveMessages()
        return result
    }

    // MARK: Fragments

    private mutating func fragment(_ moof: BoxPlace) throws(DecodingError) {
        // Where a track says nothing else, its data lie behind those of the one before (§8.8.7.1).
        var nextData = moof.start
        for traf in BoxPlace.all(bytes, in: moof.payload) where traf.type == .box("traf") {
            try trackFragment(traf, moof, &nextData)
        }
    }

    private mutating func trackFragment(
        _ traf: BoxPlace,
        _ moof: BoxPlace,
        _ nextData: inout Int
    ) throws(DecodingError) {
        let boxes = BoxPlace.all(bytes, in: traf.payload)
        guard let header = boxes.first(where: { $0.type == .box("tfhd") }) else { return }
        var reader = FieldReader(bytes, header.payload)
        let flags = reader.uint32() & 0xFF_FFFF
        let id = reader.uint32()
        guard !reader.isPastEnd, let track = initialization.tracks[id] else {
            result.note("a fragment belongs to a track that the initialization does not name")
            return
        }
        if flags & 1 != 0 { reader.skip(8) }
        if flags & 2 != 0 { reader.skip(4) }
        var defaults = Defaults(
            duration: track.defaults?.sampleDuration ?? 0,
            size: track.defaults?.sampleSize ?? 0,
            flags: track.defaults?.sampleFlags ?? 0
        )
        if flags & 8 != 0 { defaults.duration = reader.uint32() }
        if flags & 0x10 != 0 { defaults.size = reader.uint32() }
        if flags & 0x20 != 0 { defaults.flags = reader.uint32() }
        guard !reader.isPastEnd else {
            result.note("the header of a fragment is cut")
            return
        }
        // An explicit offset counts from the start of a file of which the segment may be a part. In what packagers write
        // it is that of the `moof`.
        var data = flags & 0x2_0001 != 0 ? moof.start : nextData
        var time = nextTimes[id] ?? 0
        if let box = boxes.first(where: { $0.type == .box("tfdt") }) {
            var reader = FieldReader(bytes, box.payload)
            let version = reader.uint8()
            reader.skip(3)
            let units = reader.unsigned(version == 1 ? 8 : 4)
            if !reader.isPastEnd { time = Int64(clamping: units) }
        }
        var encryptions = track.protection.map { self.encryptions(boxes, $0, moof) } ?? SampleEncryptions()
        for box in boxes where box.type == .box("trun") {
            try run(
                box,
                track,
                id,
                defaults,
                &time,
                base: flags & 0x2_0001 != 0 ? moof.start : data,
                &data,
                &encryptions
            )
        }
        unusedListBytes -= encryptions.bytesRead
        nextTimes[id] = time
        nextData = data
    }

    private mutating func run(
        _ box: BoxPlace,
        _ track: MovieInitialization.Track,
        _ id: UInt32,
        _ defaults: Defaults,
        _ time: inout Int64,
        base: Int,
        _ data: inout Int,
        _ encryptions: inout SampleEncryptions
    ) throws(DecodingError) {
        var reader = FieldReader(bytes, box.payload)
        _ = reader.uint8()
        let flags = UInt32(clamping: reader.unsigned(3))
        let count = Int(reader.uint32())
        if flags & 1 != 0 {
            let (place, overflow) = base.addingReportingOverflow(Int(reader.int32()))
            data = overflow ? Int.max / 2 : place
        }
        let firstFlags = flags & 4 != 0 ? reader.uint32() : nil
        guard !reader.isPastEnd, data >= 0 else {
            result.note("a list of samples is cut")
            return
        }
        // Without fields of their own, a number alone could ask for billions of samples.
        if flags & 0xF00 == 0, defaults.size == 0 { return }
        for index in 0..<count {
            guard result.packets.count < SegmentDemuxer.mostPackets else {
                result.note("the segment has more than \(SegmentDemuxer.mostPackets) packets")
                return
            }
            let duration = flags & 0x100 != 0 ? reader.uint32() : defaults.duration
            let size = Int(flags & 0x200 != 0 ? reader.uint32() : defaults.size)
            var own = flags & 0x400 != 0 ? reader.uint32() : defaults.flags
            if index == 0, let firstFlags { own = firstFlags }
            let shift = flags & 0x800 != 0 ? Int64(reader.int32()) : 0
            guard !reader.isPastEnd else {
                result.note("a list of samples is cut")
                return
            }
            let encryption = encryptions.next()
            guard data <= bytes.count, size <= bytes.count - data, size <= unusedBytes else {
                result.note("samples lie behind the end of the segment")
                return
            }
            try sample(
                data..<data + size,
                track,
                id,
                time,
                shift,
                Int64(duration),
                isSync: own & 0x1_0000 == 0,
                encryption
            )
            data += size
            unusedBytes -= size
            time = time.addingReportingOverflow(Int64(duration)).partialValue
        }
    }

    private mutating func sample(
        _ range: Range<Int>,
        _ track: MovieInitialization.Track,
        _ id: UInt32,
        _ time: Int64,
        _ shift: Int64,
        _ duration: Int64,
        isSync: Bool,
        _ encryption: SampleEncryption?
    ) throws(DecodingError) {
        guard !range.isEmpty else { return }
        if track.protection != nil, decryptions[id] == nil {
            throw DecodingError(.encrypted, "samples are encrypted, and there is no key")
        }
        let packet = try PacketBuilding.packet(UnsafeRawBufferPointer(rebasing: bytes[range]))
        if let decryption = decryptions[id], let encryption, let data = packet.pointee.data {
            let sample = UnsafeMutableRawBufferPointer(start: data, count: Int(packet.pointee.size))
            if !decryption.decrypt(sample, encryption) { result.note("a sample is not encrypted as it says") }
        } else if track.protection != nil {
            result.note("a sample does not say how it is encrypted")
        }
        let decode = time.addingReportingOverflow(track.editOffset).partialValue
        packet.pointee.dts = decode
        packet.pointee.pts = decode.addingReportingOverflow(shift).partialValue
        packet.pointee.duration = duration
        let isKey = track.format.kind != .video || isSync
        if isKey { packet.pointee.flags |= AV_PKT_FLAG_KEY }
        if track.format.kind == .audio, track.editOffset < 0 {
            PacketBuilding.trimBeforeZero(packet, track.format)
        }
        let wrapped = MediaPacket(owning: packet, trackID: Int(id), timeBase: track.format.timeBase)
        segmentStart = min(segmentStart ?? wrapped.presentationTime, wrapped.presentationTime)
        result.packets.append(wrapped)
    }

    // MARK: Encryption

    /// What `senc` says of each sample; without it what `saiz` and `saio` point at.
    private func encryptions(
        _ boxes: [BoxPlace],
        _ protection: SampleProtection,
        _ moof: BoxPlace
    ) -> SampleEncryptions {
        var list = SampleEncryptions()
        list.vectorLength = Int(protection.vectorLength)
        list.mostBytes = max(0, unusedListBytes)
        if let box = boxes.first(where: { $0.type == .box("senc") }) {
            list.read(bytes, box)
        } else if let sizes = boxes.first(where: { $0.type == .box("saiz") }),
            let places = boxes.first(where: { $0.type == .box("saio") })
        {
            list.read(bytes, sizes, places, moof)
        }
        return list
    }

    // MARK: Messages

    private mutating func message(_ box: BoxPlace) {
        guard messages.count < 10_000 else { return }
        let span = bytes.bindMemory(to: UInt8.self).span
        guard let message = try? EventMessage(span, at: box.start) else {
            result.note("an event message cannot be read")
            return
        }
        messages.append(message)
    }

    private mutating func giveMessages() {
        for message in messages {
            let time: MediaTime
            switch message.time {
            case .afterSegmentStart(let delta): time = (segmentStart ?? .zero) + delta
            case .presentation(let absolute): time = absolute
            }
            result.metadata.append(
                TimedMetadata(
                    kind: .eventMessage,
                    time: time,
                    duration: message.duration,
                    scheme: message.schemeIdentifier,
                    value: message.value,
                    id: message.id,
                    payload: message.message
                )
            )
        }
    }
}
