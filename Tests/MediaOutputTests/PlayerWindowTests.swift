import Foundation
import Testing

/// Tests a real window on a virtual display, with simulated keyboard and mouse input and screenshots.
@Suite(
    .serialized,
    .timeLimit(.minutes(5)),
    .enabled(if: !VirtualDisplay.tools.isEmpty, "Xvfb, xdotool and ImageMagick are not installed")
) struct PlayerWindowTests {
    /// The origin of the window, which has 640 by 360 pixels in the middle of 800 by 600.
    private let origin = (x: 80, y: 120)

    private var probe: String {
        // The programs are in the same directory as the test bundle.
        let bundle = URL(
            fileURLWithPath: CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        )
        var folder = bundle.deletingLastPathComponent()
        while folder.path != "/" {
            let path = folder.appendingPathComponent("window-probe").path
            if FileManager.default.isExecutableFile(atPath: path) { return path }
            folder.deleteLastPathComponent()
        }
        return "window-probe"
    }

    private func open(_ arguments: [String], on display: VirtualDisplay) async throws -> Companion {
        // Disable leak detection, because the library with which SDL queries the desktop leaks a kilobyte.
        let environment = ["DISPLAY": display.name, "SDL_VIDEODRIVER": "x11", "ASAN_OPTIONS": "detect_leaks=0"]
        let window = try Companion(probe, arguments, environment: environment)
        try await window.line { $0.hasPrefix("shown") }
        return window
    }

    /// Takes screenshots until a condition is true, for at most five seconds, because drawing takes time.
    private func look(at display: VirtualDisplay, until isRight: (Screenshot) -> Bool) async throws -> Screenshot {
        let end = ContinuousClock.now + .seconds(5)
        while true {
            let screen = try await display.look()
            if isRight(screen) || ContinuousClock.now > end { return screen }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    @Test(arguments: [
        ["software", "bt709", "limited"], ["software", "bt601", "limited"], ["software", "bt2020", "full"],
        ["graphics", "bt709", "limited"], ["graphics", "bt601", "limited"], ["graphics", "bt601", "full"],
        ["graphics", "bt709", "full"], ["graphics", "bt2020", "limited"],
    ])
    func colorsAreCorrectForAllMatricesAndRenderers(arguments: [String]) async throws {
        let display = try await VirtualDisplay()
        let window = try await open(arguments, on: display)
        let fields: [(color: [Int], x: Int, y: Int)] = [
            ([204, 26, 26], 160, 90), ([26, 204, 26], 480, 90), ([26, 26, 204], 160, 200), ([128, 128, 128], 480, 200),
        ]
        let screen = try await look(at: display) { $0.shows([204, 26, 26], atX: origin.x + 160, y: origin.y + 90) }
        for field in fields {
            let (x, y) = (origin.x + field.x, origin.y + field.y)
            #expect(screen.shows(field.color, atX: x, y: y), "\(screen.pixel(x, y)) instead of \(field.color)")
        }
        #expect(screen.shows([0, 0, 0], atX: 40, y: 300))
        #expect(window.lines.contains("shown true"))
        try await window.line { $0 == "main actor" }
    }

    @Test func keysSendCommandsAndTheMouseSeeks() async throws {
        let display = try await VirtualDisplay()
        let window = try await open(["software"], on: display)
        let keys = [
            "space": "togglePause", "bracketleft": "slower", "bracketright": "faster", "period": "step(1)",
            "comma": "step(-1)", "a": "nextAudio", "v": "nextVideo", "s": "nextSubtitles", "i": "toggleStatistics",
            "m": "toggleMute",
            "Up": "changeVolume(0.05)", "Down": "changeVolume(-0.05)",
        ]
        for (key, command) in keys {
            try await display.act("key", key)
            try await window.line { $0 == "command \(command)" }
        }
        // A quarter of the way along the position bar, which represents 100 seconds.
        try await display.act("mousemove", "200", "300")
        let (x, y) = (origin.x + 20 + 150, origin.y + 360 - 41)
        try await display.act("mousemove", "\(x)", "\(y)", "click", "1")
        let seek = try await window.line { $0.hasPrefix("command seekTo") }
        let seconds = try #require(Double(seek.dropFirst("command seekTo(".count).dropLast()))
        #expect(abs(seconds - 25) < 0.5)
        try await display.act("key", "q")
        #expect(try await window.status() == 0)
        #expect(window.lines.last == "command quit")
    }

    @Test func controlBarAppearsOnMouseMovementAndDisappearsLater() async throws {
        let display = try await VirtualDisplay()
        let window = try await open(["software"], on: display)
        let (y, left, right) = (origin.y + 319, origin.x + 100, origin.x + 500)
        let plain = try await look(at: display) { $0.shows([26, 26, 204], atX: left, y: y) }
        #expect(plain.shows([26, 26, 204], atX: left, y: y))
        try await display.act("mousemove", "300", "250", "mousemove", "310", "250")
        // Half of the duration is played: the bar is blue on the left, and covers the gray of the video on the right.
        let bar = try await look(at: display) { $0.shows([79, 172, 254], atX: left, y: y, within: 12) }
        #expect(bar.shows([79, 172, 254], atX: left, y: y, within: 12), "\(bar.pixel(left, y))")
        #expect(!bar.shows([79, 172, 254], atX: right, y: y, within: 60))
        let after = try await look(at: display) { $0.shows([26, 26, 204], atX: left, y: y) }
        #expect(after.shows([26, 26, 204], atX: left, y: y), "\(after.pixel(left, y))")
        _ = window
    }

    @Test func resizedWindowKeepsTheAspectRatioAndReportsItsSize() async throws {
        let display = try await VirtualDisplay()
        let window = try await open(["software"], on: display)
        try await display.act("search", "--name", "Probe", "windowsize", "640", "200", "windowmove", "0", "0")
        try await window.line { $0 == "pixels 640 200" }
        // The video is 356 pixels wide in the middle of 640.
        let screen = try await look(at: display) { $0.shows([0, 0, 0], atX: 120, y: 50) }
        #expect(screen.shows([26, 204, 26], atX: 400, y: 50))
        #expect(screen.shows([204, 26, 26], atX: 160, y: 50))
        #expect(screen.shows([0, 0, 0], atX: 120, y: 50) && screen.shows([0, 0, 0], atX: 520, y: 50))
    }

    /// The display has no window manager.
    @Test func fullScreenModeCoversTheScreenWithoutAWindowManager() async throws {
        let display = try await VirtualDisplay()
        let window = try await open(["software"], on: display)
        try await display.act("key", "f")
        try await window.line { $0 == "pixels 800 600" }
        // The video has 450 of 600 lines.
        let screen = try await look(at: display) { $0.shows([204, 26, 26], atX: 20, y: 100) }
        #expect(screen.shows([204, 26, 26], atX: 20, y: 100) && screen.shows([26, 204, 26], atX: 780, y: 100))
        #expect(screen.shows([0, 0, 0], atX: 20, y: 40) && screen.shows([0, 0, 0], atX: 780, y: 560))
        try await display.act("key", "Escape")
        try await window.line { $0 == "pixels 640 360" }
        let restored = try await look(at: display) { $0.shows([0, 0, 0], atX: 20, y: 140) }
        #expect(restored.shows([0, 0, 0], atX: 20, y: 140))
        #expect(restored.shows([204, 26, 26], atX: origin.x + 160, y: origin.y + 90))
        // The size of the window changes to 50 % and 100 % of the video without a window manager, too.
        try await display.act("key", "w")
        try await window.line { $0 == "pixels 160 90" }
        try await display.act("key", "w")
        try await window.line { $0 == "pixels 320 180" }
    }

    /// The artwork is darker than the picture, so that the title over it is legible.
    @Test(arguments: ["software", "graphics"])
    func artworkOfAudioFillsTheWindowBehindItsTitle(renderer: String) async throws {
        let display = try await VirtualDisplay()
        let window = try await open([renderer, "artwork"], on: display)
        let fields: [(color: [Int], x: Int, y: Int)] = [
            ([120, 15, 15], 20, 20), ([15, 120, 15], 620, 20), ([15, 15, 120], 20, 340), ([75, 75, 75], 620, 340),
        ]
        let screen = try await look(at: display) {
            $0.shows([120, 15, 15], atX: origin.x + 20, y: origin.y + 20, within: 8)
        }
        for field in fields {
            let (x, y) = (origin.x + field.x, origin.y + field.y)
            #expect(
                screen.shows(field.color, atX: x, y: y, within: 8),
                "\(screen.pixel(x, y)) instead of \(field.color)"
            )
        }
        // The title is known only after the window was opened.
        try await display.act("search", "--name", "^Known title$")
        _ = window
    }

    @Test func missingDisplayIsReported() async throws {
        let window = try Companion(
            probe,
            [],
            environment: ["SDL_VIDEODRIVER": "x11"],
            without: ["DISPLAY", "WAYLAND_DISPLAY"]
        )
        #expect(try await window.status() == 2)
        let line = try await window.line { $0.hasPrefix("error") }
        #expect(line.hasPrefix("error no-window The window cannot be opened"))
    }
}
