import Testing

/// Tests how the console delivers segments, and how the page plays them.
extension ConsoleStatusTests {
    @Test(
        .timeLimit(.minutes(10)),
        arguments: ["ts", "fmp4", "aes", "byterange", "dash-number", "dash-timeline", "dash-ondemand"]
    )
    func streamsPlayInABrowserWithoutHLS(stream: String) async throws {
        try await onStage(before: ConsoleTests.withoutHLS) { stage in
            #expect(try await stage.page.isTrue("document.querySelector('#no-native-hls').hidden"))
            try await play(stream, on: stage)
            try await expectMediaSource(stage)
            for time in [2.25, 31.0, 12.5] { try await expectFrame(time, shows: time, stage.video) }
            let end = try await stage.video.duration
            _ = try await stage.page.evaluate("void ((video.currentTime = \(end) - 2), video.play())")
            try await eventually("it ends") { try await stage.page.isTrue("video.ended") }
        }
    }

    /// The audio of a segment can end before its video, which leaves a gap before an inserted stream.
    @Test(.timeLimit(.minutes(10))) func pagePlaysAcrossGapsBetweenSegments() async throws {
        let catalog: (RecordingOrigin) -> String = { origin in
            """
            [{"id": "break", "name": "break", "url": "\(origin.address("ts/480p/media.m3u8"))",
              "edits": [{"name": "insert", "value": "\(origin.address("ad/multivariant.m3u8"))@12"}]}]
            """
        }
        try await onStage(catalog: catalog, before: ConsoleTests.withoutHLS) { stage in
            try await play("break", on: stage)
            _ = try await stage.page.evaluate("void ((video.currentTime = 10), video.play())")
            try await eventually("playback passes the gap") { try await stage.video.currentTime > 12.5 }
            let note = try await stage.page.text("document.querySelector('#gaps-note').textContent")
            #expect(note.contains("Playback has passed a gap in the media, 0.05 s at 00:11."), "\(note)")
        }
    }

    /// The page receives converted segments whatever is selected, so that it does not say that they are redirected.
    @Test(.timeLimit(.minutes(10))) func selectedDeliveryIsThatOfOtherPlayers() async throws {
        try await onStage(before: ConsoleTests.withoutHLS) { stage in
            try await play("ts", on: stage)
            let note = "document.querySelector('#segments-note').textContent"
            try await eventually("the page says how it receives segments") {
                try await stage.page.text(note).hasPrefix("This page plays the stream itself")
            }
            try await stage.page.choose("direct", in: "#segments")
            try await eventually("both notes are shown") {
                let text = try await stage.page.text(note)
                return text.hasPrefix("The playlists have the URLs of the origin.")
                    && text.hasSuffix("The selection applies to players of the playback URL.")
            }
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: [1_400, 1_500])
    func deliveriesOfSegmentsAreNotCutOff(width: Int) async throws {
        try await onStage { stage in
            try await play("ts", on: stage)
            try await stage.page.setWidth(width)
            let script = """
                (select => {
                  const style = getComputedStyle(select)
                  const context = document.createElement('canvas').getContext('2d')
                  context.font = style.font
                  const longest = Math.max(...[...select.options].map(option => context.measureText(option.text).width))
                  const arrow = 16
                  return longest + parseFloat(style.paddingLeft) + parseFloat(style.paddingRight) + arrow <= select.clientWidth
                })(document.querySelector('#segments'))
                """
            #expect(try await stage.page.isTrue(script))
        }
    }

    @Test(.timeLimit(.minutes(10))) func deliveryOfSegmentsIsChosen() async throws {
        try await onStage { stage in
            try await play("ts", on: stage)
            let shown = "document.querySelector('#playback-url').value"
            for (choice, parameter) in [("proxy", "&segments=proxy"), ("direct", "&segments=direct"), ("", "")] {
                try await stage.page.choose(choice, in: "#segments")
                try await eventually("the playback URL has “\(parameter)”") {
                    let url = try await stage.page.text(shown)
                    return parameter.isEmpty ? !url.contains("segments=") : url.contains(parameter)
                }
                let isHidden = try await stage.page.isTrue("document.querySelector('#segments-note').hidden")
                #expect(isHidden == parameter.isEmpty)
            }
        }
    }
}
