import MediaTiming
import Testing

@testable import MediaOutput

@Suite struct KeyBindingsTests {
    @Test(arguments: [
        (Key.character(" "), PlayerCommand.togglePause), (.character("p"), .togglePause),
        (.left, .seekBy(MediaTime(seconds: -10))), (.right, .seekBy(MediaTime(seconds: 10))),
        (.pageDown, .seekBy(MediaTime(seconds: -60))), (.pageUp, .seekBy(MediaTime(seconds: 60))),
        (.up, .changeVolume(0.05)), (.down, .changeVolume(-0.05)), (.character("["), .slower),
        (.character("]"), .faster), (.backspace, .normalSpeed), (.character("."), .step(1)),
        (.character(","), .step(-1)), (.character("a"), .nextAudio), (.character("s"), .nextSubtitles),
        (.character("v"), .nextVideo),
        (.character("i"), .toggleStatistics), (.character("f"), .toggleFullScreen), (.character("q"), .quit),
        (.character("j"), .changeAudioDelay(MediaTime(value: -1, timescale: 20))),
        (.character("k"), .changeAudioDelay(MediaTime(value: 1, timescale: 20))),
        (.character("g"), .changeSubtitleDelay(MediaTime(value: -1, timescale: 20))),
        (.character("h"), .changeSubtitleDelay(MediaTime(value: 1, timescale: 20))),
        (.character("l"), .toggleLoop), (.character("c"), .saveScreenshot), (.character("w"), .nextWindowSize),
        (.escape, .quit), (.character("m"), .toggleMute), (.home, .seekTo(.zero)),
    ])
    func keysHaveTheirCommands(key: Key, command: PlayerCommand) {
        #expect(KeyBindings.command(for: key) == command)
    }

    @Test(arguments: [Key.character("x"), .character("4"), .end, .character("٣")])
    func otherKeysAndDigitsWithUnknownDurationHaveNoCommand(key: Key) {
        #expect(KeyBindings.command(for: key) == nil)
    }

    @Test func digitsSeekToTenthsOfTheSeekableRange() {
        let span = MediaTimeRange(start: MediaTime(seconds: 100), end: MediaTime(seconds: 300))
        let command = KeyBindings.command(for: .character("3"), in: span)
        #expect(command == .seekTo(MediaTime(seconds: 160)))
        #expect(KeyBindings.command(for: .home, in: span) == .seekTo(MediaTime(seconds: 100)))
        #expect(KeyBindings.command(for: .end, in: span) == .seekTo(MediaTime(seconds: 300)))
        #expect(KeyBindings.command(for: .character("٣"), in: span) == nil)
    }

    @Test func helpSaysThatEscapeFirstLeavesFullScreen() throws {
        let line = try #require(PlayerCommand.keyLines.first { $0.hasPrefix("q, escape ") })
        #expect(line.hasSuffix("  quit; escape first leaves full screen"))
        // A terminal has no full screen.
        let ofTerminal = try #require(PlayerCommand.keyLinesOfTerminal.first { $0.hasPrefix("q, escape ") })
        #expect(ofTerminal.hasSuffix("  quit"))
    }

    @Test func heldKeyRepeatsStepsButNotToggles() {
        #expect(KeyBindings.command(for: .right, isRepeat: true) == .seekBy(MediaTime(seconds: 10)))
        #expect(KeyBindings.command(for: .character("."), isRepeat: true) == .step(1))
        #expect(KeyBindings.command(for: .character(" "), isRepeat: true) == nil)
        #expect(KeyBindings.command(for: .character("q"), isRepeat: true) == nil)
    }

    @Test(arguments: [
        ("\u{1B}[C", [PlayerCommand.seekBy(MediaTime(seconds: 10))]),
        ("\u{1B}OD", [.seekBy(MediaTime(seconds: -10))]), ("\u{1B}[5~", [.seekBy(MediaTime(seconds: 60))]),
        (" ?", [.togglePause, .toggleKeys]), ("q", [.quit]), ("\u{1B}", [.quit]), ("\u{7F}", [.normalSpeed]),
        ("\u{1B}[24~m", [.toggleMute]), ("\u{1B}[", []), ("\u{0}\u{9}", []),
        ("5", [.seekTo(MediaTime(seconds: 50))]),
    ])
    func terminalKeysHaveTheCommandsOfTheWindow(text: String, commands: [PlayerCommand]) {
        let range = MediaTimeRange(start: .zero, end: MediaTime(seconds: 100))
        #expect(TerminalKeys().commands(Array(text.utf8), in: range) == commands)
    }
}
