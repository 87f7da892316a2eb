import CASS
import MediaTiming

/// A renderer for ASS scripts, which uses libass and the fonts known to fontconfig.
final class TextRenderer {
    /// Pixels with alpha, and their position in the frame.
    struct Bitmap {
        let rect: PixelRect
        /// Blue, green, red and alpha values; colors are not premultiplied.
        let bytes: [UInt8]
    }

    private let library: OpaquePointer
    private let renderer: OpaquePointer
    /// The number of characters that no installed font has, and these characters, which libass adds while it draws.
    private let missing: UnsafeMutablePointer<UInt32>
    private var reportedScripts: Set<WritingSystem> = []

    /// Creates a renderer with libass; the first renderer of a process reads the font list.
    ///
    /// - Throws: ``OutputError`` with ``OutputError/Code/textUnavailable``.
    init() throws(OutputError) {
        guard let library = ass_library_init() else {
            throw OutputError(.textUnavailable, "libass cannot be initialized")
        }
        let missing = UnsafeMutablePointer<UInt32>.allocate(capacity: Int(MILLSTREAM_MISSING_CHARACTERS_SIZE))
        missing.initialize(repeating: 0, count: Int(MILLSTREAM_MISSING_CHARACTERS_SIZE))
        // Otherwise, libass writes messages to standard error.
        millstream_record_missing_characters(library, missing)
        guard let renderer = ass_renderer_init(library) else {
            ass_library_done(library)
            missing.deallocate()
            throw OutputError(.textUnavailable, "libass cannot be initialized")
        }
        self.library = library
        self.renderer = renderer
        self.missing = missing
        ass_set_fonts(renderer, nil, "DejaVu Sans", Int32(clamping: ASS_FONTPROVIDER_AUTODETECT.rawValue), nil, 1)
    }

    deinit {
        ass_renderer_done(renderer)
        ass_library_done(library)
        missing.deallocate()
    }

    /// Removes the characters that no installed font has from the record, and returns an error for each of their scripts.
    ///
    /// - Returns: The errors, with ``OutputError/Code/missingFont``; a script that was reported before has none.
    func takeMissingFonts() -> [OutputError] {
        let count = min(Int(missing[0]), Int(MILLSTREAM_MISSING_CHARACTERS_SIZE) - 1)
        guard count > 0 else { return [] }
        let scripts = (1...count).compactMap { WritingSystem(ofCharacter: missing[$0]) }
        missing[0] = 0
        return scripts.filter { reportedScripts.insert($0).inserted }.map(\.missingFont)
    }

    /// Draws a character in each style, so that its font is loaded before it is needed.
    func preloadFonts() {
        var script = OverlayScript(PixelSize(64, 64))
        for style in ["Default", "Mono"] {
            script.add("0", x: 8, y: 32, fontSize: 20, anchor: .left, outline: 1, style: style)
        }
        _ = draw(script.text, script.size)
    }

    /// Draws a script.
    ///
    /// - Parameters:
    ///   - script: A script in the ASS format; events that are active at one second are drawn.
    ///   - size: The size of the frame, in pixels.
    /// - Returns: The pixels of a rectangle that contains everything visible; `nil` if nothing is visible.
    func draw(_ script: String, _ size: PixelSize) -> Bitmap? {
        guard size.width > 0, size.height > 0, size.width <= 16_384, size.height <= 16_384 else { return nil }
        var bytes = Array(script.utf8CString)
        let track = bytes.withUnsafeMutableBufferPointer { buffer in
            ass_read_memory(library, buffer.baseAddress, max(0, buffer.count - 1), nil)
        }
        guard let track else { return nil }
        defer { ass_free_track(track) }
        ass_set_frame_size(renderer, Int32(clamping: size.width), Int32(clamping: size.height))
        ass_set_storage_size(renderer, Int32(clamping: size.width), Int32(clamping: size.height))
        guard let first = ass_render_frame(renderer, track, 1000, nil) else { return nil }
        return Self.blend(first)
    }

    private static func blend(_ first: UnsafeMutablePointer<ASS_Image>) -> Bitmap? {
        var (left, top, right, bottom) = (Int.max, Int.max, Int.min, Int.min)
        var next: UnsafeMutablePointer<ASS_Image>? = first
        while let image = next?.pointee {
            if image.w > 0, image.h > 0 {
                left = min(left, Int(image.dst_x))
                top = min(top, Int(image.dst_y))
                right = max(right, Int(image.dst_x +| image.w))
                bottom = max(bottom, Int(image.dst_y +| image.h))
            }
            next = image.next
        }
        guard left < right, top < bottom else { return nil }
        let rect = PixelRect(x: left, y: top, width: right - left, height: bottom - top)
        var canvas = TextCanvas(width: rect.width, height: rect.height)
        next = first
        while let image = next?.pointee {
            canvas.blend(image, atX: Int(image.dst_x) - left, y: Int(image.dst_y) - top)
            next = image.next
        }
        // libass pads masks to whole tiles, but subtitles are positioned by their exact lowest row.
        guard let rows = canvas.visibleRows else { return nil }
        return Bitmap(
            rect: PixelRect(x: left, y: top + rows.lowerBound, width: rect.width, height: rows.count),
            bytes: canvas.straightAlphaRows(rows)
        )
    }
}
