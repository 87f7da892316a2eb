import CostOperations

extension InputShape {
    // MARK: Movies

    /// Returns a shape of a segment after its initialization section.
    private static func segment(_ name: String, size: Int = 150, _ bytes: @escaping (Int) -> [UInt8]) -> InputShape {
        InputShape("movie-packets", name, size: size) { MovieWriter.initialization() + bytes($0) }
    }

    /// The shapes of movies, in fragments and with sample tables.
    static var movies: [InputShape] {
        [
            segment("fragments") { count in
                repeatedBytes(count) { MovieWriter.fragment(4 * $0, [[16]]) }
            },
            segment("fragments-of-one-time") { count in
                repeatedBytes(count) { _ in MovieWriter.fragment(0, [[16]]) }
            },
            segment("runs-of-one-fragment") { count in
                MovieWriter.fragment(0, [[Int]](repeating: [1], count: count))
            },
            segment("samples-of-one-run", size: 600) { count in
                MovieWriter.fragment(0, [[Int](repeating: 1, count: count)])
            },
            segment("samples-after-the-end") { count in
                let fragment = MovieWriter.fragment(0, [[Int]](repeating: [64], count: count))
                return Array(fragment.dropLast(64 * count - 64))
            },
            segment("samples-of-zeros") { count in
                repeatedBytes(count) { number in
                    Array(MovieWriter.fragment(4 * number, [[32]]).dropLast(32)) + zeros(32)
                }
            },
            segment("events") { count in
                let content = bigEndian(100, 4) + bigEndian(5, 8) + zeros(8) + Array("urn:x\0v\0message".utf8)
                return repeatedBytes(count) { _ in MovieWriter.full("emsg", version: 1, content) }
                    + MovieWriter.fragment(0, [[16]])
            },
            segment("boxes") { count in
                repeatedBytes(count) { _ in MovieWriter.box("free") } + MovieWriter.fragment(0, [[16]])
            },
            InputShape("movie-packets", "samples-of-a-table", size: 300) { movie($0) },
        ]
    }

    /// Returns a movie with a sample table, in which each sample is a chunk.
    private static func movie(_ count: Int) -> [UInt8] {
        func header(_ start: Int) -> [UInt8] {
            let sizes = repeatedBytes(count) { bigEndian(2 + $0 % 2, 4) }
            let offsets = repeatedBytes(count) { bigEndian(start + 3 * $0, 4) }
            let times = MovieWriter.full("stts", bigEndian(1, 4) + bigEndian(count, 4) + bigEndian(4, 4))
            let one = bigEndian(1, 4)
            let chunks = MovieWriter.full("stsc", one + one + one + one)
            let extents =
                MovieWriter.full("stsz", zeros(4) + bigEndian(count, 4) + sizes)
                + MovieWriter.full("stco", bigEndian(count, 4) + offsets)
            let tables = times + chunks + extents
            return MovieWriter.movie(entry: MovieWriter.videoEntry(), table: tables, more: [])
        }
        return header(header(0).count + 8) + MovieWriter.box("mdat", media(3 * count))
    }

    // MARK: Transport streams

    /// Returns a shape of an H.264 stream that is demultiplexed in 16 chunks.
    ///
    /// The last byte selects the number of chunks.
    private static func stream(
        _ name: String,
        size: Int = 40,
        _ frames: @escaping (Int, inout TransportStreamWriter) -> Void
    ) -> InputShape {
        InputShape("mpeg-ts-packets", name, size: size) { count in
            var writer = TransportStreamWriter(streamType: 0x1B)
            frames(count, &writer)
            return writer.bytes + [4]
        }
    }

    /// The shapes of transport streams.
    static var transportStreams: [InputShape] {
        let slice: [UInt8] = [0, 0, 1, 9, 0xF0, 0, 0, 1, 0x65]
        return [
            stream("frames") { count, writer in
                for number in 0..<count { writer.appendFrame(3_600 * number, slice + media(100)) }
            },
            stream("frames-of-one-time") { count, writer in
                for _ in 0..<count { writer.appendFrame(3_600, slice + media(100)) }
            },
            stream("timestamps-that-wrap") { count, writer in
                for number in 0..<count {
                    writer.appendFrame((0x1_FFFF_0000 + 3_600 * number) & 0x1_FFFF_FFFF, slice + media(100))
                }
            },
            stream("one-frame-that-does-not-end") { count, writer in
                writer.appendFrame(3_600, slice + media(184 * count))
            },
            stream("start-codes-of-one-frame") { count, writer in
                writer.appendFrame(3_600, slice + repeatedBytes(46 * count) { _ in [0, 0, 1, 9] })
            },
        ]
    }

    // MARK: Packed audio

    /// Returns an AAC frame with an ADTS header.
    private static func audioFrame(length: Int = 64) -> [UInt8] {
        let size = UInt8(truncatingIfNeeded: length >> 3)
        return [0xFF, 0xF1, 0x50, 0x80, size, UInt8(truncatingIfNeeded: length << 5) | 0x1F, 0xFC] + media(length - 7)
    }

    /// The shapes of packed audio.
    static var packedAudio: [InputShape] {
        let tag = Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, 0]
        return [
            InputShape("packed-audio-packets", "frames") { count in repeatedBytes(count) { _ in audioFrame() } + [4] },
            InputShape("packed-audio-packets", "tags-between-frames") { count in
                repeatedBytes(count) { $0 % 4 == 3 ? tag : audioFrame() } + [4]
            },
            InputShape("packed-audio-packets", "bytes-between-frames") { count in
                repeatedBytes(count) { audioFrame() + ($0 % 4 == 3 ? [0xFF, 0xF1, 0xFF] : []) } + [4]
            },
        ]
    }

    // MARK: Sample encryption

    /// The shapes of media whose samples are encrypted individually.
    static var encrypted: [InputShape] {
        [
            encryptedFragment("vectors-of-samples", "cenc", size: 300) { count in
                let vectors = repeatedBytes(count) { bigEndian($0, 8) }
                return ([Int](repeating: 16, count: count), MovieWriter.full("senc", bigEndian(count, 4) + vectors))
            },
            encryptedFragment("subsamples-of-one-sample", "cbcs", size: 300) { count in
                let parts = repeatedBytes(count) { _ in bigEndian(16, 2) + bigEndian(16, 4) }
                let entry = media(8) + bigEndian(count, 2) + parts
                return ([32 * count], MovieWriter.full("senc", flags: 2, bigEndian(1, 4) + entry))
            },
            encryptedFragment("vectors-elsewhere", "cens", size: 300) { count in
                let sizes = MovieWriter.full("saiz", [8] + bigEndian(count, 4))
                let offsets = MovieWriter.full("saio", bigEndian(1, 4) + zeros(4))
                return ([Int](repeating: 16, count: count), sizes + offsets)
            },
            InputShape("sample-encryption", "blocks-of-one-frame", size: 40) { count in
                var writer = TransportStreamWriter(streamType: 0xDB)
                writer.appendFrame(3_600, [0, 0, 1, 9, 0xF0, 0, 0, 1, 0x65] + media(184 * count))
                return writer.bytes
            },
            InputShape("sample-encryption", "units-of-one-frame", size: 40) { count in
                var writer = TransportStreamWriter(streamType: 0xDB)
                writer.appendFrame(3_600, repeatedBytes(count) { _ in [0, 0, 1, 0x65] + media(56) })
                return writer.bytes
            },
            InputShape("sample-encryption", "prevention-bytes-of-one-frame", size: 40) { count in
                var writer = TransportStreamWriter(streamType: 0xDB)
                let unit = media(64) + repeatedBytes(46 * count) { _ in [0, 0, 3, 0] }
                writer.appendFrame(3_600, [0, 0, 1, 0x65] + unit)
                return writer.bytes
            },
            InputShape("sample-encryption", "frames-of-packed-audio") { count in
                repeatedBytes(count) { _ in audioFrame() }
            },
        ]
    }

    /// Returns a shape of a fragment with encrypted samples.
    ///
    /// - Parameters:
    ///   - name: The name of the shape.
    ///   - scheme: The protection scheme.
    ///   - size: The number of entries of the smaller input.
    ///   - contents: A closure that returns the sizes of the samples, and the boxes with their initialization vectors.
    /// - Returns: The shape.
    private static func encryptedFragment(
        _ name: String,
        _ scheme: String,
        size: Int,
        _ contents: @escaping (Int) -> (sizes: [Int], boxes: [UInt8])
    ) -> InputShape {
        InputShape("sample-encryption", name, size: size) { count in
            let (sizes, boxes) = contents(count)
            return MovieWriter.initialization(entry: MovieWriter.encryptedEntry(scheme, vectorSize: 8))
                + MovieWriter.fragment(0, [sizes], more: boxes)
        }
    }
}
