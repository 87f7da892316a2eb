import MediaTiming
import SegmentFormat

@testable import MediaDecoding

/// Encrypts a fragmented movie with one track (ISO/IEC 23001-7): changes its sample entry, encrypts its samples and
/// adds the boxes that describe the encryption.
enum MovieEncryption {
    struct Scheme {
        let name: String
        /// The numbers of encrypted blocks and of subsequent clear blocks in the pattern.
        var pattern: (Int, Int) = (0, 0)
        var vectorLength = 8
        /// The number of clear bytes at the start of each sample.
        var clearLead = 0
        /// A Boolean value that indicates whether the initialization vectors are where `saiz` and `saio` point, instead
        /// of in `senc`.
        var usesAuxiliary = false
    }

    static let constantVector: [UInt8] = Array(201...216)

    static func encrypted(_ bytes: [UInt8], _ scheme: Scheme, key: [UInt8]) throws -> [UInt8] {
        let cipher = try BlockCipher(key: key)
        var output: [UInt8] = []
        let boxes = split(bytes)
        var index = 0
        while index < boxes.count {
            let (type, payload) = boxes[index]
            if type == "moov" {
                output += box("moov", moov(payload, scheme, []))
            } else if type == "moof", index + 1 < boxes.count, boxes[index + 1].0 == "mdat" {
                var data = boxes[index + 1].1
                var positions: [(clear: Int, encrypted: Int, vector: [UInt8])] = []
                var offset = 0
                for (number, size) in sampleSizes(payload).enumerated() {
                    let vector =
                        scheme.vectorLength == 0
                        ? [] : (0..<scheme.vectorLength).map { UInt8(truncatingIfNeeded: number * 7 + $0 + offset) }
                    let clear = min(scheme.clearLead, size)
                    encrypt(
                        &data,
                        offset + clear..<offset + size,
                        scheme,
                        vector.isEmpty ? constantVector : vector,
                        cipher
                    )
                    positions.append((clear, size - clear, vector))
                    offset += size
                }
                output += box("moof", moof(payload, scheme, positions))
                output += box("mdat", data)
                index += 1
            } else if type != "mfra", type != "sidx" {
                output += box(type, payload)
            }
            index += 1
        }
        return output
    }

    private static func encrypt(
        _ data: inout [UInt8],
        _ range: Range<Int>,
        _ scheme: Scheme,
        _ vector: [UInt8],
        _ cipher: BlockCipher
    ) {
        var counter = CounterModeStream(vector: vector)
        var chain = Array((vector + [UInt8](repeating: 0, count: 16)).prefix(16))
        let isCounter = scheme.name == "cenc" || scheme.name == "cens"
        let hasPattern = scheme.pattern.0 > 0
        data.withUnsafeMutableBytes { data in
            var offset = range.lowerBound
            if isCounter, !hasPattern {
                counter.apply(to: UnsafeMutableRawBufferPointer(rebasing: data[range]), with: cipher)
                return
            }
            var block = 0
            while range.upperBound - offset >= 16 {
                let position = block % max(1, scheme.pattern.0 + scheme.pattern.1)
                if !hasPattern || position < scheme.pattern.0 {
                    let part = UnsafeMutableRawBufferPointer(rebasing: data[offset..<offset + 16])
                    if isCounter {
                        counter.apply(to: part, with: cipher)
                    } else {
                        cipher.encryptCBC(part, vector: &chain)
                    }
                }
                block += 1
                offset += 16
            }
        }
    }

    private static func moov(_ payload: [UInt8], _ scheme: Scheme, _ path: [String]) -> [UInt8] {
        split(payload).flatMap { type, inner -> [UInt8] in
            switch type {
            case "trak", "mdia", "minf", "stbl": return box(type, moov(inner, scheme, path + [type]))
            case "stsd":
                let entry = split(Array(inner[8...]))[0]
                let isSound = entry.0 == "mp4a"
                var tenc: [UInt8] = [scheme.pattern.0 > 0 ? 1 : 0, 0, 0, 0, 0]
                tenc += [UInt8(scheme.pattern.0 << 4 | scheme.pattern.1), 1, UInt8(scheme.vectorLength)]
                tenc += [UInt8](repeating: 9, count: 16)
                if scheme.vectorLength == 0 { tenc += [16] + constantVector }
                let sinf =
                    box("frma", Array(entry.0.utf8))
                    + box("schm", [0, 0, 0, 0] + Array(scheme.name.utf8) + [0, 1, 0, 0])
                    + box("schi", box("tenc", tenc))
                return box("stsd", Array(inner[0..<8]) + box(isSound ? "enca" : "encv", entry.1 + box("sinf", sinf)))
            default: return box(type, inner)
            }
        }
    }

    private static func moof(
        _ payload: [UInt8],
        _ scheme: Scheme,
        _ positions: [(clear: Int, encrypted: Int, vector: [UInt8])]
    ) -> [UInt8] {
        var senc: [UInt8] = [0, 0, 0, scheme.clearLead > 0 ? 2 : 0] + big(positions.count)
        for position in positions {
            senc += position.vector
            if scheme.clearLead > 0 {
                senc += [0, 1, UInt8(position.clear >> 8), UInt8(position.clear & 255)] + big(position.encrypted)
            }
        }
        var added = box("senc", senc)
        if scheme.usesAuxiliary {
            let size = scheme.vectorLength + (scheme.clearLead > 0 ? 8 : 0)
            added = box("free", senc) + box("saiz", [0, 0, 0, 0, UInt8(size)] + big(positions.count))
            let offset = payload.count + 8 + 16
            added += box("saio", [0, 0, 0, 0] + big(1) + big(offset))
        }
        return split(payload).flatMap { type, inner -> [UInt8] in
            guard type == "traf" else { return box(type, inner) }
            let boxes = split(inner).flatMap { type, inner -> [UInt8] in
                guard type == "trun" else { return box(type, inner) }
                var inner = inner
                let offset = inner[8..<12].reduce(0) { $0 << 8 | Int($1) } + added.count
                inner.replaceSubrange(8..<12, with: big(offset))
                return box(type, inner)
            }
            return box("traf", boxes + added)
        }
    }

    /// Returns the sample sizes from the `tfhd` and `trun` boxes of a movie fragment.
    private static func sampleSizes(_ moof: [UInt8]) -> [Int] {
        for (type, inner) in split(moof) where type == "traf" {
            var common = 0
            for (type, inner) in split(inner) {
                func number(_ at: Int) -> Int { inner[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
                if type == "tfhd" {
                    let flags = number(0)
                    var at = 8 + (flags & 1 != 0 ? 8 : 0) + (flags & 2 != 0 ? 4 : 0) + (flags & 8 != 0 ? 4 : 0)
                    if flags & 16 != 0 { common = number(at) }
                    at += 4
                }
                guard type == "trun" else { continue }
                let flags = number(0)
                let width = [0x100, 0x200, 0x400, 0x800].reduce(0) { $0 + (flags & $1 != 0 ? 4 : 0) }
                let first = 12 + (flags & 4 != 0 ? 4 : 0) + (flags & 0x100 != 0 ? 4 : 0)
                return (0..<number(4)).map { flags & 0x200 != 0 ? number(first + $0 * width) : common }
            }
        }
        return []
    }

    static func split(_ bytes: [UInt8]) -> [(String, [UInt8])] {
        var boxes = BoxIterator(0..<bytes.count, in: bytes.span)
        var contents: [(String, [UInt8])] = []
        while let box = boxes.next(bytes.span) { contents.append((box.type.description, Array(bytes[box.payload]))) }
        return contents
    }

    static func box(_ type: String, _ payload: [UInt8]) -> [UInt8] {
        big(payload.count + 8) + Array(type.utf8) + payload
    }

    static func big(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - $0 * 8)) } }
}
