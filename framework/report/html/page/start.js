// Runs once everything above is known.
"use strict";

graphline.start();
