import CostOperations

extension InputShape {
    /// The shapes of media containers other than ISO base media files, and of captions.
    static var media: [InputShape] { transportStreams + packedAudio + tags + matroska + otherFiles + captions }

    /// The shapes of segments that are divided into two parts.
    static var dividedSegments: [InputShape] {
        let names = [
            "mpeg-ts/frames", "packed-audio/frames", "fragments/movie-fragments", "fragments/runs-of-one-track",
            "fragments/samples-of-one-run",
        ]
        return (movies + media).filter { names.contains("\($0.reader)/\($0.name)") }.map { shape in
            InputShape("segment-parts", "\(shape.reader)-\(shape.name)", size: shape.size) { count in
                let bytes = shape.bytes(count)
                // The number of bytes selects the number of parts, and the last byte their duration.
                let padding = (10 - bytes.count % 5) % 5 + 1
                return bytes + [UInt8](repeating: 0x45, count: padding)
            }
        }
    }

    // MARK: Transport streams

    private static func packet(
        _ pid: Int,
        start: Bool = false,
        adaptation: [UInt8] = [],
        _ payload: [UInt8]
    ) -> [UInt8] {
        var packet: [UInt8] = [0x47] + bigEndian(pid | (start ? 0x4000 : 0), 2)
        packet += adaptation.isEmpty ? [0x10] : [0x30, UInt8(adaptation.count)] + adaptation
        packet += payload.prefix(188 - packet.count)
        return packet + [UInt8](repeating: 0xFF, count: 188 - packet.count)
    }

    private static func section(_ table: UInt8, _ number: Int, _ content: [UInt8]) -> [UInt8] {
        [0, table] + bigEndian(0xB000 | (content.count + 9), 2) + bigEndian(number, 2) + [0xC1, 0, 0] + content
            + zeros(4)
    }

    /// Returns the transport packets of a section.
    private static func packets(_ pid: Int, _ section: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var rest = section[...]
        repeat {
            result += packet(pid, start: result.isEmpty, Array(rest.prefix(184)))
            rest = rest.dropFirst(184)
        } while !rest.isEmpty
        return result
    }

    private static func association(_ count: Int) -> [UInt8] {
        packets(0, section(0, 1, repeatedBytes(count) { bigEndian($0 + 1, 2) + bigEndian(0xE000 | (0x100 + $0), 2) }))
    }

    private static func map(_ number: Int, streams: Int) -> [UInt8] {
        let list = repeatedBytes(streams) { [0x1B] + bigEndian(0xE000 | (0x400 + $0), 2) + [0xF0, 0] }
        return packets(0x100 + number, section(2, number + 1, [0xE4, 0, 0xF0, 0] + list))
    }

    /// Returns a transport packet with the PES header of a frame, a timestamp and a clock reference.
    private static func frame(_ pid: Int, _ time: Int) -> [UInt8] {
        let stamp = [
            0x21 | UInt8(time >> 29 & 0x0E), UInt8(time >> 22 & 0xFF), 1 | UInt8(time >> 14 & 0xFE),
            UInt8(time >> 7 & 0xFF), 1 | UInt8(time << 1 & 0xFE),
        ]
        let clock: [UInt8] = [0x50] + bigEndian(time >> 1 & 0xFFFF_FFFF, 4) + [0, 0]
        return packet(
            pid,
            start: true,
            adaptation: clock,
            [0, 0, 1, 0xE0, 0, 0, 0x80, 0x80, 5] + stamp + [0, 0, 1, 9]
        )
    }

    private static var transportStreams: [InputShape] {
        let tables = association(1) + map(0, streams: 1)
        return [
            InputShape("mpeg-ts", "frames", size: 60) { count in
                wholeFile(tables + repeatedBytes(count) { frame(0x400, 3_000 * $0) })
            },
            InputShape("mpeg-ts", "frames-in-parts", size: 60) { count in
                fileInParts(tables + repeatedBytes(count) { frame(0x400, 3_000 * $0) })
            },
            InputShape("mpeg-ts", "frames-of-one-time", size: 60) { count in
                wholeFile(tables + repeatedBytes(count) { _ in frame(0x400, 3_000) })
            },
            InputShape("mpeg-ts", "timestamps-that-wrap", size: 60) { count in
                wholeFile(tables + repeatedBytes(count) { frame(0x400, (0x1_FFFF_0000 + 3_000 * $0) & 0x1_FFFF_FFFF) })
            },
            InputShape("mpeg-ts", "streams-of-one-program", size: 40) { count in
                wholeFile(
                    association(1) + map(0, streams: count) + repeatedBytes(count) { frame(0x400 + $0, 3_000 * $0) }
                )
            },
            InputShape("mpeg-ts", "programs", size: 40) { count in
                wholeFile(association(count) + repeatedBytes(count) { map($0, streams: 1) })
            },
            InputShape("mpeg-ts", "streams-without-program", size: 60) { count in
                wholeFile(repeatedBytes(count) { frame(0x400 + $0, 3_000) })
            },
            InputShape("mpeg-ts", "maps-again", size: 60) { count in
                wholeFile(association(1) + repeatedBytes(count) { _ in map(0, streams: 8) })
            },
            InputShape("mpeg-ts", "sections-that-do-not-end", size: 60) { count in
                wholeFile(
                    association(1) + packet(0x100, start: true, [0, 2, 0xBF, 0xFF])
                        + repeatedBytes(count) { _ in packet(0x100, zeros(184)) }
                )
            },
            InputShape("mpeg-ts", "bytes-between-packets", size: 60) { count in
                wholeFile(
                    tables
                        + repeatedBytes(count) {
                            frame(0x400, 3_000 * $0) + ($0 % 8 == 7 ? [0x47, 0, 0x47, 0x47, 1] : [])
                        }
                )
            },
            InputShape("mpeg-ts", "sync-bytes", size: 60) { count in
                wholeFile([UInt8](repeating: 0x47, count: 188 * count))
            },
            InputShape("mpeg-ts", "start-codes", size: 60) { count in
                wholeFile(tables + repeatedBytes(count) { _ in packet(0x400, repeatedBytes(60) { _ in [0, 0, 1] }) })
            },
        ]
    }

    // MARK: Packed audio

    /// Returns an ADTS frame.
    private static func frame(rate: Int = 4, length: Int = 16) -> [UInt8] {
        let size = UInt8(length)
        return [0xFF, 0xF1, 0x40 | UInt8(rate) << 2, 0x80, size >> 3, size << 5 | 0x1F, 0xFC] + zeros(length - 7)
    }

    private static func tag(_ frames: [UInt8], flags: UInt8 = 0, version: UInt8 = 4) -> [UInt8] {
        Array("ID3".utf8) + [version, 0, flags] + syncSafe(frames.count) + frames
    }

    private static func syncSafe(_ count: Int) -> [UInt8] { [21, 14, 7, 0].map { UInt8(count >> $0 & 0x7F) } }

    private static func tagFrame(_ id: String, _ content: [UInt8]) -> [UInt8] {
        Array(id.utf8) + syncSafe(content.count) + [0, 0] + content
    }

    private static var packedAudio: [InputShape] {
        [
            InputShape("packed-audio", "frames") { wholeFile(repeatedBytes($0) { _ in frame() }) },
            InputShape("packed-audio", "frames-of-changing-rate") { count in
                wholeFile(repeatedBytes(count) { frame(rate: 3 + $0 / 2 % 8) })
            },
            InputShape("packed-audio", "tags-between-frames") { count in
                wholeFile(repeatedBytes(count / 4) { _ in repeatedBytes(8) { _ in frame() } + tag([]) })
            },
            InputShape("packed-audio", "bytes-between-frames") { count in
                wholeFile(repeatedBytes(count) { frame() + [0xFF, UInt8($0 % 256), 0xFF] })
            },
            InputShape("packed-audio", "sync-words-behind-a-frame") { count in
                wholeFile(frame() + [UInt8](repeating: 0xFF, count: 16 * count))
            },
            InputShape("packed-audio", "sync-words-only", size: 1_200) {
                wholeFile([UInt8](repeating: 0xFF, count: $0))
            },
            InputShape("packed-audio", "frames-of-mp3", size: 40) { count in
                wholeFile(repeatedBytes(count) { _ in [0xFF, 0xFB, 0x10, 0xC4] + zeros(100) })
            },
            InputShape("packed-audio", "metadata-blocks-of-flac") { count in
                let first: [UInt8] = [0, 0, 0, 34] + zeros(10) + [0x0A, 0xC4, 0x42, 0xF0] + zeros(20)
                return wholeFile(Array("fLaC".utf8) + first + repeatedBytes(count) { _ in [4, 0, 0, 1, 0] })
            },
        ]
    }

    private static var tags: [InputShape] {
        [
            InputShape("id3", "frames") { count in
                tag(repeatedBytes(count) { _ in tagFrame("TXXX", [3, 0x61, 0, 0x62]) })
            },
            InputShape("id3", "frames-of-private-data") { count in
                tag(
                    repeatedBytes(count) { _ in
                        tagFrame("PRIV", Array("com.apple.streaming.transportStreamTimestamp\0".utf8) + zeros(7))
                    }
                )
            },
            InputShape("id3", "frames-without-content") { count in
                tag(repeatedBytes(count) { _ in tagFrame("TIT2", []) })
            },
            InputShape("id3", "texts-of-one-frame") { count in
                tag(tagFrame("TPE1", [3] + repeatedBytes(count) { [0x61 + UInt8($0 % 26), 0] }))
            },
            InputShape("id3", "texts-in-utf-16") { count in
                tag(tagFrame("TPE1", [1] + repeatedBytes(count) { _ in [0xFF, 0xFE, 0x61, 0, 0, 0] }))
            },
            InputShape("id3", "long-text-without-end") { count in
                tag(tagFrame("TXXX", [1] + [UInt8](repeating: 0x61, count: 16 * count)))
            },
            InputShape("id3", "unsynchronized-bytes") { count in
                tag(tagFrame("GEOB", [0] + repeatedBytes(4 * count) { _ in [0xFF, 0] }), flags: 0x80)
            },
            InputShape("id3", "unsynchronized-tag") { count in
                tag(repeatedBytes(4 * count) { _ in [0xFF, 0] }, flags: 0x80, version: 3)
            },
        ]
    }

    // MARK: Matroska

    private static func element(_ id: Int, _ content: [UInt8]) -> [UInt8] {
        let width = id > 0xFF_FFFF ? 4 : id > 0xFFFF ? 3 : id > 0xFF ? 2 : 1
        return bigEndian(id, width) + [0x01] + bigEndian(content.count, 7) + content
    }

    private static func matroska(_ content: [UInt8]) -> [UInt8] {
        let information = element(
            0x1549_A966,
            element(0x2AD7B1, bigEndian(1_000_000, 3)) + element(0x4489, [0x49, 0x74, 0x24, 0])
        )
        return element(0x1A45_DFA3, element(0x4282, Array("matroska".utf8)))
            + element(0x1853_8067, information + content)
    }

    private static func cue(_ number: Int) -> [UInt8] {
        element(
            0xBB,
            element(0xB3, bigEndian(1_000 * number, 4)) + element(0xB7, element(0xF1, bigEndian(100 * number, 4)))
        )
    }

    private static func cluster(_ number: Int) -> [UInt8] { element(0x1F43_B675, element(0xE7, bigEndian(number, 4))) }

    private static var matroska: [InputShape] {
        let track = element(0x1654_AE6B, element(0xAE, element(0xD7, [1]) + element(0x83, [1])))
        let contents: [(String, Int, (Int) -> [UInt8])] = [
            ("cues", 150, { track + element(0x1C53_BB6B, repeatedBytes($0, cue)) + repeatedBytes($0, cluster) }),
            (
                "cues-of-one-time", 150,
                { count in
                    track + element(0x1C53_BB6B, repeatedBytes(count) { _ in cue(1) }) + repeatedBytes(count, cluster)
                }
            ),
            (
                "positions-of-one-cue", 150,
                { count in
                    let positions = repeatedBytes(count) { _ in element(0xB7, element(0xF1, [1])) }
                    return track + element(0x1C53_BB6B, element(0xBB, element(0xB3, [1]) + positions)) + cluster(1)
                }
            ),
            ("elements", 150, { count in repeatedBytes(count) { _ in element(0xEC, []) } + track + cluster(1) }),
            (
                "tracks", 25,
                { count in
                    element(0x1654_AE6B, repeatedBytes(count) { element(0xAE, element(0xD7, [UInt8($0)])) })
                        + cluster(1)
                }
            ),
            (
                "fields-of-one-track", 150,
                { count in
                    element(0x1654_AE6B, element(0xAE, repeatedBytes(count) { _ in element(0x22B59C, [0x65, 0x6E]) }))
                        + cluster(1)
                }
            ),
            (
                "seeks", 150,
                { count in
                    let seek = element(0x4DBB, element(0x53AB, bigEndian(0x1C53_BB6B, 4)) + element(0x53AC, [0]))
                    return element(0x114D_9B74, repeatedBytes(count) { _ in seek }) + track + cluster(1)
                }
            ),
        ]
        return contents.map { name, size, content in
            InputShape("matroska", name, size: size) { wholeFile(matroska(content($0))) }
        }
    }

    // MARK: Ogg and WAVE

    private static func page(_ serial: Int, _ position: Int, _ content: [UInt8]) -> [UInt8] {
        Array("OggS".utf8) + [0, 0] + littleEndian(position, 8) + littleEndian(serial, 4) + zeros(8)
            + [1, UInt8(content.count)] + content
    }

    private static var otherFiles: [InputShape] {
        let head = page(7, 0, Array("OpusHead".utf8) + [1, 2, 0, 0] + zeros(32))
        let wave = Array("RIFF".utf8) + zeros(4) + Array("WAVE".utf8)
        return [
            InputShape("ogg", "pages") { wholeFile(head + repeatedBytes($0) { page(7, 960 * $0, zeros(8)) }) },
            InputShape("ogg", "pages-of-other-streams") {
                wholeFile(head + repeatedBytes($0) { page(100 + $0, 1, []) })
            },
            InputShape("ogg", "capture-patterns") { count in
                wholeFile(head + repeatedBytes(8 * count) { _ in Array("OggS".utf8) })
            },
            InputShape("wav", "chunks") { count in
                wholeFile(wave + repeatedBytes(count) { _ in Array("LIST".utf8) + zeros(4) })
            },
            InputShape("wav", "formats") { count in
                let format =
                    Array("fmt ".utf8) + littleEndian(16, 4) + [
                        1, 0, 2, 0, 0x80, 0xBB, 0, 0, 0, 0xEE, 2, 0, 4, 0, 16, 0,
                    ]
                return wholeFile(wave + repeatedBytes(count) { _ in format } + Array("data".utf8) + zeros(4))
            },
        ]
    }

    // MARK: Captions

    private static func parity(_ byte: UInt8) -> UInt8 { byte.nonzeroBitCount.isMultiple(of: 2) ? byte | 0x80 : byte }

    /// Returns a caption triplet of the first field.
    private static func triplet(_ first: UInt8, _ second: UInt8) -> [UInt8] { [0xFC, parity(first), parity(second)] }

    /// Returns an SEI message with triplets as user data.
    private static func message(_ triplets: [UInt8]) -> [UInt8] {
        let data = [0xB5, 0, 0x31] + Array("GA94".utf8) + [3, 0x40 | UInt8(triplets.count / 3), 0xFF] + triplets
        return [4, UInt8(data.count)] + data
    }

    private static var captions: [InputShape] {
        let letters = triplet(0x41, 0x42)
        // The first byte selects how the fuzz target parses the remaining bytes.
        return [
            InputShape("captions", "lines-that-roll-up", size: 40) { count in
                [0] + triplet(0x14, 0x26) + repeatedBytes(count) { _ in letters + triplet(0x14, 0x2D) }
            },
            InputShape("captions", "letters-one-by-one", size: 40) { count in
                [0x80] + triplet(0x14, 0x26) + repeatedBytes(count) { _ in letters + triplet(0x14, 0x2D) }
            },
            InputShape("captions", "captions-that-pop-on", size: 40) { count in
                [0] + repeatedBytes(count / 3) { _ in triplet(0x14, 0x20) + letters + triplet(0x14, 0x2F) }
            },
            InputShape("captions", "painted-letters-of-one-row", size: 40) { count in
                [0x80] + triplet(0x14, 0x29) + repeatedBytes(count) { _ in letters }
            },
            InputShape("captions", "windows", size: 60) { count in
                // Each packet defines a window and writes text to it.
                let block = [0x98, 0, 0, 0, 0x22, 0x0F, 0] + Array("ab".utf8) + [0x03]
                let packet = [UInt8(0x20 | block.count)] + block
                let code = UInt8((packet.count + 2) / 2)
                var bytes: [UInt8] = [0xFF, code, packet[0]]
                for index in stride(from: 1, to: packet.count, by: 2) {
                    bytes += [0xFE, packet[index], index + 1 < packet.count ? packet[index + 1] : 0]
                }
                return [0] + repeatedBytes(count / 2) { _ in bytes }
            },
            InputShape("captions", "messages-of-one-unit", size: 40) { count in
                [2, 6] + repeatedBytes(count) { _ in message(letters) }
            },
            InputShape("captions", "messages-of-other-kinds") { [2, 6] + repeatedBytes($0) { _ in [1, 1, 0] } },
            InputShape("captions", "long-sizes-of-messages") { count in
                [2, 6] + [UInt8](repeating: 0xFF, count: 8 * count)
            },
            InputShape("captions", "bytes-that-keep-start-codes-out") { count in
                [2, 6] + repeatedBytes(4 * count) { _ in [0, 0, 3] }
            },
            InputShape("captions", "units-of-one-sample", size: 40) { count in
                [0x24]
                    + repeatedBytes(count) { _ in
                        let unit = [6] + message(letters)
                        return bigEndian(unit.count, 4) + unit
                    }
            },
            InputShape("captions", "units-of-a-byte-stream", size: 40) { count in
                [6] + repeatedBytes(count) { _ in [0, 0, 1, 6] + message(letters) }
            },
            InputShape("captions", "start-codes") { count in [6] + repeatedBytes(4 * count) { _ in [0, 0, 1] } },
        ]
    }
}
