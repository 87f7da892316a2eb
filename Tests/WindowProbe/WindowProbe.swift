import Foundation
import MediaDecoding
import MediaOutput
import MediaTiming
import PaintedPictures

/// A window with a known video frame, for tests that take screenshots, which writes its events to standard output.
///
/// `window-probe [graphics|software] [bt601|bt709|bt2020] [full|limited] [artwork]`
///
/// With `artwork`, the window shows audio without video, with the frame as its artwork.
@main struct WindowProbe {
    @MainActor static func main() {
        let arguments = Set(CommandLine.arguments.dropFirst())
        var options = PlayerWindow.Options(size: PixelSize(width: 640, height: 360))
        options.renderer = arguments.contains("graphics") ? .accelerated : .software
        do {
            let window = try PlayerWindow(title: "Probe", options: options)
            run(window, try picture(arguments), isArtwork: arguments.contains("artwork"))
            window.close()
        } catch {
            say("error \((error as? OutputError)?.code.rawValue ?? "") \(error)")
            exit(2)
        }
    }

    @MainActor private static func run(_ window: PlayerWindow, _ pixelBuffer: PixelBuffer, isArtwork: Bool) {
        var hasQuit = false
        var wasShown = false
        window.onPixelSizeChange = { say("pixels \($0.width) \($0.height)") }
        window.onError = { say("problem \($0)") }
        window.onCommand = { command in
            say("command \(command)")
            hasQuit = command == .quit
        }
        Task { @MainActor in say("main actor") }
        window.updateOverlay { overlay in
            overlay.extent = .onDemand(MediaTime(seconds: 100))
            overlay.position = MediaTime(seconds: 50)
            overlay.timeControlStatus = .playing
        }
        Thread.detachNewThread {
            guard !isArtwork else { return showArtwork(pixelBuffer, in: window) }
            let duration = MediaTime(value: 1, timescale: 25)
            window.show(VideoFrame(time: .zero, duration: duration, isKeyFrame: true, pixelBuffer: pixelBuffer))
        }
        window.run {
            if !wasShown, isArtwork || window.frameCounts.shown > 0 {
                wasShown = true
                say("shown \(window.isReadyForDisplay)")
            }
            return hasQuit
        }
    }

    /// Shows audio with an artwork and a title.
    private static func showArtwork(_ pixelBuffer: PixelBuffer, in window: PlayerWindow) {
        window.setTitle("Known title")
        do {
            let artwork = try WindowArtwork(pixelBuffer)
            window.updateOverlay { overlay in
                overlay.audioLevel = 0.5
                overlay.artwork = artwork
            }
        } catch {
            say("problem \(error)")
        }
    }

    /// Writes a line immediately, unlike `print`, which buffers if standard output is not a terminal.
    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    /// Returns a frame with four fields: red, green, blue and 50 % gray.
    private static func picture(_ arguments: Set<String>) throws -> PixelBuffer {
        let matrix: ColorMatrix =
            arguments.contains("bt601") ? .bt601 : arguments.contains("bt2020") ? .bt2020 : .bt709
        let isFullRange = arguments.contains("full")
        return try PaintedPicture.make(width: 320, height: 180, matrix: matrix, isFullRange: isFullRange) { x, y in
            switch (x < 160, y < 90) {
            case (true, true): (0.8, 0.1, 0.1)
            case (false, true): (0.1, 0.8, 0.1)
            case (true, false): (0.1, 0.1, 0.8)
            case (false, false): (0.5, 0.5, 0.5)
            }
        }
    }
}
