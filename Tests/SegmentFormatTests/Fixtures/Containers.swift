/// Synthetic files of other container formats.
enum Containers {
    /// Returns an EBML element whose length is encoded in four bytes.
    static func element(_ id: Int, _ content: [UInt8]...) -> [UInt8] {
        let body = content.flatMap { $0 }
        let name = id > 0xFF_FFFF ? u32(id) : id > 0xFFFF ? u24(id) : id > 0xFF ? u16(id) : u8(id)
        return name + u32(0x1000_0000 | body.count) + body
    }

    /// Returns a WebM file with clusters that are `step` seconds long and with its cues at the end, and the offsets of
    /// the clusters.
    static func matroska(seconds: Int, step: Int, hasTimestamps: Bool = false) -> (file: [UInt8], clusters: [Int]) {
        let header = element(0x1A45_DFA3, element(0x4282, ascii("webm")))
        let information = element(0x1549_A966, element(0x4489, u64(Int(Double(seconds * 1_000).bitPattern))))
        let picture = element(0xE0, element(0xB0, u16(640)), element(0xBA, u16(360)))
        let sound = element(0xE1, element(0x9F, u8(2)), element(0xB5, u32(Int(Float(48_000).bitPattern))))
        let video = element(0xD7, u8(1)) + element(0x83, u8(1)) + element(0x86, ascii("V_VP9"))
        let audio = element(0xD7, u8(2)) + element(0x83, u8(2)) + element(0x86, ascii("A_OPUS"))
        let tracks = element(
            0x1654_AE6B,
            element(0xAE, video, element(0x22_B59C, ascii("und")), picture),
            element(0xAE, audio, element(0x22_B59C, ascii("deu")), sound)
        )
        func makeCluster(_ index: Int) -> [UInt8] {
            element(0x1F43_B675, hasTimestamps ? element(0xE7, u16(index * step * 1_000)) : [], zeros(500))
        }
        let cluster = makeCluster(0)
        func seek(_ position: Int) -> [UInt8] {
            element(0x114D_9B74, element(0x4DBB, element(0x53AB, u32(0x1C53_BB6B)), element(0x53AC, u32(position))))
        }
        let first = seek(0).count + information.count + tracks.count
        let count = seconds / step
        let cues = (0..<count).flatMap { index in
            element(
                0xBB,
                element(0xB3, u16(index * step * 1_000)),
                element(0xB7, element(0xF7, u8(1)), element(0xF1, u32(first + index * cluster.count)))
            )
        }
        let body =
            seek(first + count * cluster.count) + information + tracks + (0..<count).flatMap(makeCluster)
            + element(0x1C53_BB6B, cues)
        let start = header.count + 8
        return (header + element(0x1853_8067, body), (0..<count).map { start + first + $0 * cluster.count })
    }

    /// Returns an Ogg file of Opus with one page per second.
    static func opus(seconds: Int) -> [UInt8] {
        func page(_ position: Int, _ content: [UInt8]) -> [UInt8] {
            ascii("OggS") + [0, 0] + u64(position).reversed() + u32(7) + zeros(8) + [1] + u8(content.count) + content
        }
        let head = ascii("OpusHead") + [1, 2] + u16(312).reversed() + u32(48_000).reversed() + zeros(3)
        return page(0, head) + (1...seconds).flatMap { page($0 * 48_000 + 312, zeros(200)) }
    }
}
