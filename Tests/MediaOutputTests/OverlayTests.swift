import MediaDecoding
import MediaTiming
import Testing

@testable import MediaOutput

@Suite struct OverlayTests {
    private let bar = ControlBar(PixelSize(1280, 720))
    private let film = MediaTimeRange(start: .zero, end: MediaTime(seconds: 600))

    private var state: OverlayState {
        var state = OverlayState()
        state.extent = .onDemand(MediaTime(seconds: 600))
        state.timeControlStatus = .playing
        return state
    }

    @Test(arguments: [
        (0.0, "00:00"), (59.99, "00:59"), (605, "10:05"), (3661, "1:01:01"), (-32, "-00:32"), (1e9, "99:59:59"),
    ])
    func timesAreFormattedAsHoursMinutesAndSeconds(seconds: Double, text: String) throws {
        #expect(TimeFormatter.string(try #require(MediaTime(approximating: seconds))) == text)
    }

    @Test func positionTextDependsOnTheKindOfPresentation() {
        var state = state
        state.position = MediaTime(seconds: 83)
        #expect(TimeFormatter.positionString(of: state) == "01:23 / 10:00")
        // A file of 20 seconds, whose last frames end a little earlier, after 3.9 seconds.
        state.position = MediaTime(value: 39, timescale: 10)
        state.extent = .onDemand(MediaTime(value: 19_977, timescale: 1000))
        #expect(TimeFormatter.positionString(of: state) == "00:03 / 00:20")
        state.position = MediaTime(seconds: 83)
        state.extent = .onDemand(MediaTime(seconds: 4000))
        #expect(TimeFormatter.positionString(of: state) == "0:01:23 / 1:06:40")
        state.extent = .live
        state.seekableRange = MediaTimeRange(start: .zero, end: MediaTime(seconds: 100))
        #expect(TimeFormatter.positionString(of: state) == "-00:17")
        state.extent = .unknown
        #expect(TimeFormatter.positionString(of: state) == "01:23")
    }

    /// A stream with a target duration of 6 seconds recommends a distance of 18 seconds, where its seekable range ends.
    @Test(
        arguments: [
            (18, nil, -3, true), (18, nil, 0, true), (18, nil, 12, true), (18, nil, 13, false), (18, nil, 26, false),
            (18, 40, 30, true), (18, 40, 35, false), (18, 10, 12, true), (18, 10, 13, false),
            (3, nil, 4, true), (3, nil, 5, false), (nil, nil, 12, true), (nil, nil, 26, false),
        ] as [(Int64?, Int64?, Int64, Bool)]
    )
    func liveIndicatorIsRedOnlyNearTheLiveEdge(recommended: Int64?, configured: Int64?, behind: Int64, isRed: Bool) {
        var state = state
        state.extent = .live
        state.seekableRange = MediaTimeRange(start: .zero, end: MediaTime(seconds: 300))
        state.recommendedTimeOffsetFromLive = recommended.map { MediaTime(seconds: $0) }
        state.configuredTimeOffsetFromLive = configured.map { MediaTime(seconds: $0) }
        state.position = MediaTime(seconds: 300 - behind)
        let script = OverlayLayout.controls(state, bar)
        #expect(script.text.contains(OverlayScript.Color.live.tags) == isRed)
    }

    @Test(arguments: [(1.0, "1×"), (0.5, "0.5×"), (2, "2×"), (1.25, "1.25×"), (.nan, "")])
    func ratesAreFormatted(rate: Double, text: String) {
        #expect(TimeFormatter.rateString(rate) == text)
    }

    @Test func timesAndPositionsOnTheBarCorrespond() {
        for seconds in stride(from: Int64(0), through: 600, by: 7) {
            let time = MediaTime(seconds: seconds)
            let back = bar.time(atX: Int(bar.x(of: time, in: film)), in: film)
            #expect(abs((back - time).seconds) <= 600 / bar.track.width)
        }
        #expect(bar.time(atX: -50, in: film) == .zero)
        #expect(bar.time(atX: 5000, in: film) == MediaTime(seconds: 600))
    }

    @Test(arguments: [PixelSize(160, 90), PixelSize(640, 360), PixelSize(1280, 720), PixelSize(3840, 2160)])
    func controlBarIsInsideTheWindow(window: PixelSize) {
        for density in [1.0, 2, .nan] {
            let bar = ControlBar(window, density: density)
            #expect(bar.track.x >= 0 && bar.track.x + bar.track.width <= Double(window.width))
            #expect(bar.track.y > 0 || density == 2 && window.height < 120)
            #expect(bar.textCenterY < Double(window.height))
            let shade = OverlayLayout.gradient(bar)
            #expect(shade.bytes.count == shade.rect.width * shade.rect.height * 4)
            #expect(shade.rect.y + shade.rect.height == window.height)
        }
    }

    @Test func controlBarIsVisibleForThreeSecondsAfterMouseMovement() {
        var controls = WindowControls()
        _ = controls.setOverlay(state, at: .zero)
        controls.move(x: 5, y: 5, over: bar, at: .zero)
        #expect(controls.barOpacity(at: .zero) == 0, "a window that opens under the mouse")
        controls.move(x: 6, y: 5, over: bar, at: .seconds(10))
        #expect(controls.barOpacity(at: .seconds(13)) == 1)
        #expect(controls.nextChange(after: .seconds(11)) == .seconds(13))
        #expect((0.4...0.6).contains(controls.barOpacity(at: .milliseconds(13_150))))
        #expect(controls.barOpacity(at: .seconds(14)) == 0)
        #expect(controls.nextChange(after: .seconds(14)) == nil)
    }

    @Test func controlBarIsVisibleAfterASeekByKey() {
        var controls = WindowControls()
        _ = controls.setOverlay(state, at: .zero)
        controls.showBar(at: .seconds(5))
        #expect(controls.barOpacity(at: .seconds(7)) == 1 && !controls.showsPointer(at: .seconds(7)))
        #expect(controls.barOpacity(at: .seconds(10)) == 0)
        controls.move(x: 5, y: 5, over: bar, at: .seconds(11))
        controls.move(x: 6, y: 5, over: bar, at: .seconds(11))
        controls.showBar(at: .seconds(12))
        #expect(controls.showsPointer(at: .seconds(12)), "the mouse was moved before")
        #expect(
            PlayerCommand.seekBy(MediaTime(seconds: 5)).changesPosition && !PlayerCommand.toggleMute.changesPosition
        )
    }

    @Test func positionIsDrawnOnlyWhileTheBarIsVisible() {
        var controls = WindowControls()
        _ = controls.setOverlay(state, at: .zero)
        var later = state
        later.position = MediaTime(seconds: 1)
        let isHiddenChange = controls.setOverlay(later, at: .zero)
        #expect(!isHiddenChange)
        later.subtitles = SubtitleScript(lines: ["x"])
        let isSubtitleChange = controls.setOverlay(later, at: .zero)
        #expect(isSubtitleChange)
        controls.move(x: 0, y: 0, over: bar, at: .zero)
        controls.move(x: 1, y: 0, over: bar, at: .zero)
        later.position = MediaTime(seconds: 2)
        let isVisibleChange = controls.setOverlay(later, at: .seconds(1))
        #expect(isVisibleChange)
    }

    @Test func dragOnTheBarSeeksToTheReleasePosition() {
        var controls = WindowControls()
        var seekable = state
        seekable.seekableRange = MediaTimeRange(start: .zero, end: MediaTime(seconds: 400))
        _ = controls.setOverlay(seekable, at: .zero)
        let y = Int(bar.track.y)
        let middle = Int(bar.track.x + bar.track.width / 2)
        let pressed = controls.press(x: middle, y: y, over: bar, at: .zero)
        #expect(pressed == nil && controls.isDragging)
        controls.move(x: 9999, y: 0, over: bar, at: .seconds(20))
        #expect(controls.barOpacity(at: .seconds(60)) == 1, "it stays while it is held")
        let end = controls.release(x: 9999, y: 0, over: bar, at: .seconds(60))
        #expect(end == .seekTo(MediaTime(seconds: 400)))
        _ = controls.press(x: middle, y: y, over: bar, at: .seconds(61))
        let click = controls.release(x: middle, y: y, over: bar, at: .seconds(61))
        guard case .seekTo(let time) = click else { return #expect(Bool(false), "\(String(describing: click))") }
        #expect(abs(time.seconds - 300) < 1)
    }

    @Test func buttonWorksOnlyWhileTheBarIsVisible() {
        var controls = WindowControls()
        _ = controls.setOverlay(state, at: .zero)
        let (x, y) = (bar.button.x + 5, bar.button.y + 5)
        let unseen = controls.press(x: x, y: y, over: bar, at: .zero)
        #expect(unseen == nil)
        let seen = controls.press(x: x, y: y, over: bar, at: .zero)
        #expect(seen == .togglePause)
        let released = controls.release(x: x, y: y, over: bar, at: .zero)
        #expect(released == nil)
    }

    @Test func spinnerAppearsAfterADelay() {
        var controls = WindowControls()
        var waiting = state
        waiting.timeControlStatus = .waiting(reason: "")
        _ = controls.setOverlay(waiting, at: .seconds(1))
        #expect(controls.spinnerPhase(at: .milliseconds(1_200)) == nil)
        #expect(controls.nextChange(after: .milliseconds(1_200)) == .milliseconds(1_300))
        #expect(controls.spinnerPhase(at: .milliseconds(1_500)) == 5)
        _ = controls.setOverlay(state, at: .seconds(2))
        #expect(controls.spinnerPhase(at: .seconds(3)) == nil)
        #expect(controls.nextChange(after: .seconds(3)) == nil)
    }

    @Test func mediaWithoutVideoIsShownWithItsTitleAndDetails() {
        var state = state
        #expect(AudioOverlay.script("Name of the window", state, bar).isEmpty)
        state.audioLevel = 0.5
        #expect(AudioOverlay.script("Name of the window", state, bar).text.contains("Name of the window"))
        state.mediaTitle = "Song"
        state.mediaDetails = "Band — Album"
        let text = AudioOverlay.script("Name of the window", state, bar).text
        #expect(text.contains("Song") && text.contains("Band — Album") && !text.contains("Name of the window"))
        state.mediaTitle = String(repeating: "x", count: 1_000)
        let long = AudioOverlay.script("", state, bar).text
        #expect(long.contains("x…") && !long.contains(String(repeating: "x", count: 200)))
    }

    @Test func artworkIsDrawnAgainAndItsTitleHasAnOutline() throws {
        var state = state
        state.audioLevel = 0.5
        state.mediaTitle = "Song"
        var controls = WindowControls()
        _ = controls.setOverlay(state, at: .zero)
        #expect(!AudioOverlay.script("", state, bar).text.contains("\\bord"))
        state.artwork = try WindowArtwork(TestFrames.frame(at: 0, width: 4_096, height: 16).pixelBuffer)
        #expect(state.artwork?.size == PixelSize(2_048, 8))
        let isChanged = controls.setOverlay(state, at: .zero)
        #expect(isChanged)
        let text = AudioOverlay.script("", state, bar).text
        #expect(text.contains("Song") && text.contains("\\bord"))
        // Artwork of media with video is not shown.
        state.audioLevel = nil
        #expect(AudioOverlay.script("", state, bar).isEmpty)
    }

    @Test func textIsEscapedInScripts() {
        #expect(OverlayScript.escaped("{\\b1}x\ny") == "\\{\\\u{2060}b1\\}x\\Ny")
        var script = OverlayScript(PixelSize(100, 100))
        script.add("a\r\nDialogue: 0,evil", x: 0, y: 0, fontSize: 10, anchor: .left)
        #expect(script.text.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("Dialogue") }.count == 1)
    }

    /// One character can have millions of combining marks.
    @Test func textInScriptsIsShortHoweverManyCombiningMarksACharacterHas() {
        var script = OverlayScript(PixelSize(100, 100))
        let marks = String(repeating: "\u{301}", count: 100_000)
        script.add("e\(marks)", x: 0, y: 0, fontSize: 10, anchor: .left)
        let drawn = script.text.unicodeScalars.count { $0 == "\u{301}" }
        #expect(drawn == OverlayScript.maximumScalarCount - 1)
    }

    @Test func onlyTheTimesOfDialogueLinesAreReplaced() {
        let line = "Dialogue: 1,0:00:01.00,0:00:02.50,Top,,0,0,0,,Yes, {\\i1}no{\\i0}"
        #expect(
            SubtitleScript.withUnlimitedTimes(line)
                == "Dialogue: 1,0:00:00.00,9:59:59.99,Top,,0,0,0,,Yes, {\\i1}no{\\i0}"
        )
        #expect(SubtitleScript.withUnlimitedTimes("Style: x") == nil)
        #expect(SubtitleScript.withUnlimitedTimes("Dialogue: 1,2") == nil)
        #expect(SubtitleScript.withUnlimitedTimes(line + "\nDialogue: 0,1,2,3") == nil)
    }

    /// The controls are used while the statistics or the keys are shown.
    @Test(
        arguments: [
            PixelSize(160, 90), PixelSize(320, 180), PixelSize(640, 360), PixelSize(960, 540), PixelSize(3840, 2160),
        ],
        [1.0, 2]
    )
    func statisticsAreAboveTheControls(window: PixelSize, density: Double) throws {
        let bar = ControlBar(window, density: density)
        for count in [1, 12, 25, 60] {
            let lines = (1...count).map { "line \($0)" }
            let script = OverlayLayout.statistics(lines, bar)
            for event in script.events.dropFirst() {
                let match = try #require(event.firstMatch(of: /\\pos\(([0-9.]+),([0-9.]+)\)\\fs([0-9.]+)/))
                let (top, size) = (try #require(Double(match.output.2)), try #require(Double(match.output.3)))
                #expect(top + size <= Double(bar.trackArea.y), "\(event)")
            }
            #expect(script.events.count <= count + 1)
        }
    }

    /// The text is smaller where that shows all lines, and remains readable.
    @Test func statisticsUseASmallerFontInASmallWindow() {
        func fontSize(_ count: Int, _ bar: ControlBar) -> Double? {
            let script = OverlayLayout.statistics([String](repeating: "x", count: count), bar)
            return script.events.last?.firstMatch(of: /\\fs([0-9.]+)/).flatMap { Double($0.output.1) }
        }
        let small = ControlBar(PixelSize(640, 360))
        let lines = [String](repeating: "x", count: 24)
        #expect(OverlayLayout.statistics(lines, small).events.count == 25, "the background and all lines")
        #expect(fontSize(4, small) == 13.3 && (fontSize(24, small) ?? 0) < 9.5)
        #expect(fontSize(200, small) == 8.4)
        #expect(OverlayLayout.statistics([String](repeating: "x", count: 200), small).events.count < 30)
        #expect(fontSize(20, bar) == 19)
    }

    @Test func numberOfDrawnLinesAndRangesIsLimited() {
        var state = state
        for index in 0..<5_000 {
            let start = MediaTime(value: Int64(index) * 12, timescale: 100)
            state.loadedRanges.insert(MediaTimeRange(start: start, duration: MediaTime(value: 3, timescale: 100)))
        }
        state.volume = .nan
        state.rate = .infinity
        #expect(OverlayLayout.controls(state, bar).events.count < 300)
        #expect(OverlayLayout.statistics([String](repeating: "x", count: 5_000), bar).events.count < 60)
        #expect(OverlayLayout.statistics([], bar).isEmpty)
    }
}
