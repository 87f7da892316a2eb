import CSDL2
import MediaTiming

/// A part of the overlay as it was drawn last; it is drawn anew only where its script has changed.
struct OverlayLayer: ~Copyable {
    private struct Content: Equatable {
        let name: String
        let size: PixelSize
    }

    private let renderer: OpaquePointer
    private var content: Content?
    private var texture: OpaquePointer?
    private var textureSize = PixelSize(0, 0)
    private var rect: PixelRect?

    init(renderer: OpaquePointer) {
        self.renderer = renderer
    }

    deinit { if let texture { SDL_DestroyTexture(texture) } }

    /// Where it is seen, from the corner of its frame; `nil` where nothing is.
    var bounds: PixelRect? { rect }

    /// Forgets what was drawn: the device that held it was reset.
    mutating func reset() {
        if let texture { SDL_DestroyTexture(texture) }
        texture = nil
        content = nil
        rect = nil
    }

    /// Draws a script, if it is another one than the last.
    mutating func update(_ script: String, _ size: PixelSize, _ text: TextRenderer) {
        update(script, size) { text.draw(script, size) }
    }

    /// Takes pixels, if they are others than the last.
    ///
    /// - Parameters:
    ///   - name: What tells them from others.
    ///   - size: Of the frame that they belong to.
    ///   - bitmap: Makes them.
    mutating func update(_ name: String, _ size: PixelSize, _ bitmap: () -> TextRenderer.Bitmap?) {
        let wanted = Content(name: name, size: size)
        guard wanted != content else { return }
        content = wanted
        rect = nil
        guard let bitmap = bitmap(), !bitmap.bytes.isEmpty, prepare(bitmap.rect) else { return }
        var part = SDL_Rect(x: 0, y: 0, w: Int32(clamping: bitmap.rect.width), h: Int32(bitmap.rect.height))
        let status = bitmap.bytes.withUnsafeBytes { bytes in
            SDL_UpdateTexture(texture, &part, bytes.baseAddress, Int32(clamping: bitmap.rect.width * 4))
        }
        if status == 0 { rect = bitmap.rect }
    }

    /// Shows nothing any more.
    mutating func clear() {
        content = nil
        rect = nil
    }

    /// Puts it on the screen.
    ///
    /// - Parameters:
    ///   - x: How far right of its place.
    ///   - y: How far below its place.
    ///   - opacity: 1 for as it is, 0 for not at all.
    func draw(offsetX x: Int = 0, y: Int = 0, opacity: Double = 1) {
        guard let texture, let rect, opacity > 0 else { return }
        SDL_SetTextureAlphaMod(texture, UInt8(saturating: max(0, min(255, (opacity * 255).rounded()))))
        var source = SDL_Rect(x: 0, y: 0, w: Int32(clamping: rect.width), h: Int32(clamping: rect.height))
        var target = SDL_Rect(PixelRect(x: rect.x + x, y: rect.y + y, width: rect.width, height: rect.height))
        SDL_RenderCopy(renderer, texture, &source, &target)
    }

    /// A texture that holds it; a little larger than needed, so that a growing text does not need one each time.
    private mutating func prepare(_ rect: PixelRect) -> Bool {
        if texture != nil, textureSize.width >= rect.width, textureSize.height >= rect.height { return true }
        if let texture { SDL_DestroyTexture(texture) }
        textureSize = PixelSize((rect.width + 63) / 64 * 64, (rect.height + 63) / 64 * 64)
        texture = SDL_CreateTexture(
            renderer,
            SDL_PIXELFORMAT_BGRA32.rawValue,
            Int32(clamping: SDL_TEXTUREACCESS_STREAMING.rawValue),
            Int32(clamping: textureSize.width),
            Int32(clamping: textureSize.height)
        )
        guard let texture else { return false }
        SDL_SetTextureBlendMode(texture, SDL_BLENDMODE_BLEND)
        return true
    }
}
