import CSDL2
import MediaDecoding
import MediaTiming

/// The texture that contains the current video frame.
struct VideoTexture: ~Copyable {
    /// The layout of pixels in the texture.
    private struct Layout: Equatable {
        let format: UInt32
        let size: PixelSize
        let mode: SDL_YUV_CONVERSION_MODE?
    }

    private let renderer: OpaquePointer
    /// A Boolean value that indicates whether the CPU scales and converts frames; in this case only once, with
    /// libswscale, to the size on the screen.
    private let isSoftware: Bool
    private let converter = PixelBufferConverter(quality: .fast)
    private var texture: OpaquePointer?
    private var layout: Layout?

    init(renderer: OpaquePointer, isSoftware: Bool) {
        self.renderer = renderer
        self.isSoftware = isSoftware
    }

    deinit { if let texture { SDL_DestroyTexture(texture) } }

    /// Discards the texture, as required after a reset of the rendering device.
    mutating func reset() {
        if let texture { SDL_DestroyTexture(texture) }
        texture = nil
        layout = nil
    }

    /// Uploads the pixels of a picture.
    ///
    /// - Parameters:
    ///   - pixelBuffer: The picture to show.
    ///   - target: The size on the screen, in pixels.
    /// - Throws: ``OutputError`` with ``OutputError/Code/notConvertible``.
    mutating func load(_ pixelBuffer: PixelBuffer, for target: PixelSize) throws {
        let size = PixelSize(pixelBuffer.width, pixelBuffer.height)
        if let direct = nativeLayout(for: pixelBuffer, size: size) {
            try prepare(direct)
            return try upload(pixelBuffer)
        }
        // A texture must not be empty, even if the window is.
        let wanted = isSoftware ? PixelSize(max(1, target.width), max(1, target.height)) : size
        let converted: PixelBuffer
        do {
            converted = try converter.convert(pixelBuffer, to: .bgra, width: wanted.width, height: wanted.height)
        } catch {
            throw OutputError(.notConvertible, "A frame could not be converted for the screen: \(error)")
        }
        try prepare(Layout(format: SDL_PIXELFORMAT_BGRA32.rawValue, size: wanted, mode: nil))
        try upload(converted)
    }

    /// Draws the picture into a rectangle of the window.
    ///
    /// - Parameters:
    ///   - rect: The rectangle.
    ///   - brightness: The factor of the colors, from 0 for black to 255 for the picture as it is.
    func draw(in rect: PixelRect, brightness: UInt8 = 255) {
        guard let texture else { return }
        SDL_SetTextureColorMod(texture, brightness, brightness, brightness)
        var target = SDL_Rect(rect)
        SDL_RenderCopy(renderer, texture, nil, &target)
    }

    /// Returns the texture layout for a picture that SDL can convert while drawing; `nil` if SDL does not support its
    /// format or color matrix.
    private func nativeLayout(for pixelBuffer: PixelBuffer, size: PixelSize) -> Layout? {
        guard !isSoftware else { return nil }
        let format: UInt32
        switch pixelBuffer.format {
        case .yuv420p: format = SDL_PIXELFORMAT_IYUV.rawValue
        case .nv12: format = SDL_PIXELFORMAT_NV12.rawValue
        case .yuv420p10, .yuv422p, .yuv444p, .rgb24, .bgra, .other: return nil
        }
        switch (pixelBuffer.colorMatrix, pixelBuffer.isFullRange) {
        case (.bt601, false): return Layout(format: format, size: size, mode: SDL_YUV_CONVERSION_BT601)
        case (.bt601, true): return Layout(format: format, size: size, mode: SDL_YUV_CONVERSION_JPEG)
        case (.bt709, false): return Layout(format: format, size: size, mode: SDL_YUV_CONVERSION_BT709)
        default: return nil
        }
    }

    private mutating func prepare(_ wanted: Layout) throws(OutputError) {
        // The mode applies to the whole process; it is read when a texture is created and, by some renderers, when it
        // is drawn.
        if let mode = wanted.mode { SDL_SetYUVConversionMode(mode) }
        guard wanted != layout || texture == nil else { return }
        reset()
        let access = Int32(clamping: SDL_TEXTUREACCESS_STREAMING.rawValue)
        texture = SDL_CreateTexture(
            renderer,
            wanted.format,
            access,
            Int32(clamping: wanted.size.width),
            Int32(clamping: wanted.size.height)
        )
        guard let texture else {
            throw OutputError(
                .notConvertible,
                "A texture for the frame could not be created: \(SDLRuntime.lastError)"
            )
        }
        SDL_SetTextureBlendMode(texture, SDL_BLENDMODE_NONE)
        SDL_SetTextureScaleMode(texture, SDL_ScaleModeLinear)
        layout = wanted
    }

    private func upload(_ pixelBuffer: PixelBuffer) throws {
        guard let texture else { return }
        let status = pixelBuffer.withPlanes { planes -> Int32? in
            let rows = planes.map { ($0.bytes.bindMemory(to: UInt8.self).baseAddress, Int32(clamping: $0.bytesPerRow)) }
            switch (pixelBuffer.format, rows.count) {
            case (.yuv420p, 3...):
                let (y, u, v) = (rows[0], rows[1], rows[2])
                return SDL_UpdateYUVTexture(texture, nil, y.0, y.1, u.0, u.1, v.0, v.1)
            case (.nv12, 2...):
                return SDL_UpdateNVTexture(texture, nil, rows[0].0, rows[0].1, rows[1].0, rows[1].1)
            case (.bgra, 1...):
                return SDL_UpdateTexture(texture, nil, rows[0].0, rows[0].1)
            default: return nil
            }
        }
        guard status == 0 else {
            throw OutputError(.notConvertible, "A frame could not be uploaded to the renderer: \(SDLRuntime.lastError)")
        }
    }
}

extension SDL_Rect {
    init(_ rect: PixelRect) {
        self.init(
            x: Int32(clamping: rect.x),
            y: Int32(clamping: rect.y),
            w: Int32(clamping: rect.width),
            h: Int32(clamping: rect.height)
        )
    }
}
