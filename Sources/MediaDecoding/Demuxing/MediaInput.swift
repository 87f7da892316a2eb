import CFFmpeg
import MediaTiming

/// A random-access byte source for FFmpeg (`AVIOContext`) that is backed by a closure.
@safe final class MediaInput {
    /// A function that reads bytes from an offset into a buffer and returns their number, 0 at the end.
    typealias Read = (_ offset: Int64, _ buffer: UnsafeMutableRawBufferPointer) -> Int

    private let read: Read
    /// The number of bytes; `nil` if it is unknown.
    let length: Int64?
    private var offset: Int64 = 0
    private(set) var context: UnsafeMutablePointer<AVIOContext>?

    private static let bufferLength: Int32 = 32_768

    init(length: Int64?, read: @escaping Read) throws(DecodingError) {
        unsafe self.read = unsafe read
        self.length = length
        guard let buffer = unsafe av_malloc(Int(Self.bufferLength)) else { throw .outOfMemory }
        unsafe context = unsafe avio_alloc_context(
            buffer.assumingMemoryBound(to: UInt8.self),
            Self.bufferLength,
            0,
            Unmanaged.passUnretained(self).toOpaque(),
            readInput,
            nil,
            seekInput
        )
        guard unsafe context != nil else {
            unsafe av_free(buffer)
            throw .outOfMemory
        }
    }

    deinit {
        // FFmpeg may have replaced the buffer that it was given.
        unsafe av_free(context?.pointee.buffer)
        unsafe avio_context_free(&context)
    }

    fileprivate func fill(_ buffer: UnsafeMutablePointer<UInt8>?, _ count: Int32) -> Int32 {
        guard let buffer = unsafe buffer, count > 0 else { return cffmpeg_error_invalid_argument() }
        let taken = unsafe read(offset, UnsafeMutableRawBufferPointer(start: buffer, count: Int(count)))
        guard taken > 0 else { return cffmpeg_error_end() }
        let used = min(taken, Int(count))
        offset +|= Int64(used)
        return Int32(clamping: used)
    }

    fileprivate func seek(_ target: Int64, _ origin: Int32) -> Int64 {
        let failure = Int64(cffmpeg_error_invalid_argument())
        if origin & cffmpeg_seek_size() != 0 { return length ?? Int64(cffmpeg_error_io()) }
        let base: Int64
        switch origin & ~cffmpeg_seek_force() {
        case 0: base = 0
        case 1: base = offset
        case 2:
            guard let length else { return failure }
            base = length
        default: return failure
        }
        let (position, overflow) = base.addingReportingOverflow(target)
        guard !overflow, position >= 0 else { return failure }
        offset = position
        return position
    }
}

// Functions instead of closures, because C calls them outside of any actor.
private func readInput(
    _ opaque: UnsafeMutableRawPointer?,
    _ buffer: UnsafeMutablePointer<UInt8>?,
    _ count: Int32
) -> Int32 {
    guard let opaque = unsafe opaque else { return cffmpeg_error_invalid_argument() }
    return unsafe Unmanaged<MediaInput>.fromOpaque(opaque).takeUnretainedValue().fill(buffer, count)
}

private func seekInput(_ opaque: UnsafeMutableRawPointer?, _ target: Int64, _ origin: Int32) -> Int64 {
    guard let opaque = unsafe opaque else { return Int64(cffmpeg_error_invalid_argument()) }
    return unsafe Unmanaged<MediaInput>.fromOpaque(opaque).takeUnretainedValue().seek(target, origin)
}

extension MediaInput {
    /// Creates an input from consecutive memory regions, which must outlive it.
    convenience init(_ regions: [UnsafeRawBufferPointer]) throws(DecodingError) {
        let length = unsafe regions.reduce(0) { $0 + $1.count }
        unsafe try self.init(length: Int64(length)) { offset, buffer in
            var start = Int(clamping: offset)
            for index in unsafe regions.indices {
                let stretch = unsafe regions[index]
                if start < stretch.count {
                    let count = min(buffer.count, stretch.count - start)
                    unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: stretch[start..<start + count]))
                    return count
                }
                start -= stretch.count
            }
            return 0
        }
    }
}
