import CFFmpeg
import MediaTiming

extension PixelBuffer {
    /// Returns the MD5 of the visible bytes of all planes in order, in hexadecimal digits.
    ///
    /// It equals the output of `ffmpeg -f framemd5` for the same pixels in the same pixel format.
    public func checksum() -> String {
        guard let context = unsafe av_md5_alloc() else { return "" }
        defer { unsafe av_free(UnsafeMutableRawPointer(context)) }
        unsafe av_md5_init(context)
        withPlanes { planes in
            for plane in planes {
                guard let base = unsafe plane.bytes.bindMemory(to: UInt8.self).baseAddress else { continue }
                if plane.bytesPerRow == plane.unpaddedBytesPerRow {
                    unsafe av_md5_update(context, base, plane.height * plane.unpaddedBytesPerRow)
                } else {
                    for row in 0..<plane.height {
                        unsafe av_md5_update(context, base + row * plane.bytesPerRow, plane.unpaddedBytesPerRow)
                    }
                }
            }
        }
        return unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16) { digest in
            guard let base = digest.baseAddress else { return "" }
            unsafe av_md5_final(context, base)
            let digits = Array("0123456789abcdef".utf8)
            var text: [UInt8] = []
            for index in digest.indices {
                let byte = unsafe digest[index]
                text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
            return String(decoding: text, as: UTF8.self)
        }
    }
}
