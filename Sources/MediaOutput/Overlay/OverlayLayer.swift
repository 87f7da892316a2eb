import CSDL2
import MediaTiming

/// A part of the overlay with a cached image, which is drawn again only if its script changes.
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

    /// The position of the visible image in its frame; `nil` if nothing is visible.
    var bounds: PixelRect? { rect }

    /// Discards the image, as required after a reset of the rendering device.
    mutating func reset() {
        if let texture { SDL_DestroyTexture(texture) }
        texture = nil
        content = nil
        rect = nil
    }

    /// Draws a script, unless the image shows it already.
    mutating func update(_ script: String, _ size: PixelSize, _ text: TextRenderer) {
        update(script, size) { text.draw(script, size) }
    }

    /// Replaces the image, unless it has the same name and size already.
    ///
    /// - Parameters:
    ///   - name: An identifier of the image.
    ///   - size: The size of the frame that contains the image.
    ///   - bitmap: A function that creates the pixels.
    mutating func update(_ name: String, _ size: PixelSize, _ bitmap: () -> TextRenderer.Bitmap?) {
        let wanted = Content(name: name, size: size)
        guard wanted != content else { return }
        content = wanted
        rect = nil
        guard let bitmap = bitmap(), !bitmap.bytes.isEmpty, prepare(bitmap.rect) else { return }
        var part = SDL_Rect(x: 0, y: 0, w: Int32(clamping: bitmap.rect.width), h: Int32(clamping: bitmap.rect.height))
        let status = bitmap.bytes.withUnsafeBytes { bytes in
            SDL_UpdateTexture(texture, &part, bytes.baseAddress, Int32(clamping: bitmap.rect.width * 4))
        }
        if status == 0 { rect = bitmap.rect }
    }

    /// Removes the image.
    mutating func clear() {
        content = nil
        rect = nil
    }

    /// Draws the image into the window.
    ///
    /// - Parameters:
    ///   - x: The distance to the right of its position, in pixels.
    ///   - y: The distance below its position, in pixels.
    ///   - opacity: The opacity, from 0 to 1.
    func draw(offsetX x: Int = 0, y: Int = 0, opacity: Double = 1) {
        guard let texture, let rect, opacity > 0 else { return }
        SDL_SetTextureAlphaMod(texture, UInt8(saturating: max(0, min(255, (opacity * 255).rounded()))))
        var source = SDL_Rect(x: 0, y: 0, w: Int32(clamping: rect.width), h: Int32(clamping: rect.height))
        var target = SDL_Rect(PixelRect(x: rect.x + x, y: rect.y + y, width: rect.width, height: rect.height))
        SDL_RenderCopy(renderer, texture, &source, &target)
    }

    /// Creates a texture for the image unless the current one is large enough.
    ///
    /// Sizes are rounded up to multiples of 64 pixels, so that text of growing length does not require a new texture
    /// each time.
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
